import type { HeaderTable } from "../http/headers.ts";
import { neverSent } from "./failures.ts";
import type { AddressGuard, ResolvedOrigin } from "./ssrf.ts";

/** An address that an administrator configured. */
type OutboundTarget = { url: string; allowPrivateNetwork: boolean };

export type OutboundRequest = {
  method: string;
  headers: HeaderTable;
  /** A stream stays unread until a connection is established, so the next address can still be tried. */
  body?: BodyInit | Uint8Array | ReadableStream<Uint8Array> | null;
  signal: AbortSignal;
  /** Decode a compressed answer. */
  decompress?: boolean;
};

/** Rejects with a GatewayError when the address may not be called, and as `fetch` does when the call fails. */
export type OutboundFetch = (to: OutboundTarget, request: OutboundRequest) => Promise<Response>;

/** Scheme, host and port, as they are written. */
const ORIGIN = /^https?:\/\/[^/?#\\]+/i;

/**
 * The one place that connects to hosts that administrators configure: providers, tool servers, guardrail services. It
 * connects to the very address that was checked (no DNS rebinding), and to the host's next address if one fails. It
 * follows no redirect, because that would carry prompt and credential to another origin. Bun's own timeout, which cuts a
 * silence of 360 s, is off: deadlines come through `signal`.
 */
export const createOutboundFetch =
  (guard: Pick<AddressGuard, "resolveOrigin">): OutboundFetch =>
  ({ url, allowPrivateNetwork }, request) => {
    const origin = ORIGIN.exec(url)?.[0] ?? url;
    const ask = (way: ResolvedOrigin) =>
      fetch(way.origin === null ? url : way.origin + url.slice(origin.length), requestVia(way, request));
    const ways = guard.resolveOrigin(origin, allowPrivateNetwork);
    return ways instanceof Promise
      ? ways.then((found) => firstAnswer(found, request, ask))
      : firstAnswer(ways, request, ask);
  };

/** The answer from the first address that accepts a connection. */
function firstAnswer(
  ways: ResolvedOrigin[],
  request: OutboundRequest,
  ask: (way: ResolvedOrigin) => Promise<Response>,
): Promise<Response> {
  const [only] = ways;
  return only && ways.length === 1 ? ask(only) : answerInTurn(ways, request, ask);
}

async function answerInTurn(
  ways: ResolvedOrigin[],
  { body, signal }: OutboundRequest,
  ask: (way: ResolvedOrigin) => Promise<Response>,
): Promise<Response> {
  for (const [tried, way] of [...ways].entries()) {
    try {
      return await ask(way);
    } catch (cause) {
      putLast(ways, way);
      const last = tried === ways.length - 1 || signal.aborted || isTaken(body);
      if (last || !neverSent(cause)) throw cause;
    }
  }
  throw new RangeError("there is a way to every address that passed");
}

const isTaken = (body: OutboundRequest["body"]): boolean => body instanceof ReadableStream && body.locked;

/** Unless another call has already done so. */
function putLast(ways: ResolvedOrigin[], way: ResolvedOrigin): void {
  if (ways[0] === way) ways.push(...ways.splice(0, 1));
}

function requestVia(
  { origin, host, serverName }: ResolvedOrigin,
  { method, headers, body, signal, decompress = true }: OutboundRequest,
): BunFetchRequestInit {
  // `redirect` is a plain string to the type checker once it stands in a variable.
  const init = {
    method,
    headers,
    body: body ?? null,
    signal,
    decompress,
    redirect: "manual",
    timeout: false,
  } as BunFetchRequestInit;
  if (origin === null) return init;
  headers["host"] = host;
  return { ...init, tls: { serverName } };
}
