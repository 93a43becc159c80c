import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
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
  /** Decode a compressed answer. Default: yes. */
  decompress?: boolean;
};

/** Rejects with a GatewayError if the address may not be called, and as `fetch` does if the call fails. */
export type OutboundFetch = (to: OutboundTarget, request: OutboundRequest) => Promise<Response>;

/** Scheme, host and port as written. */
const ORIGIN = /^https?:\/\/[^/?#\\]+/i;

/**
 * The only place that connects to hosts configured by administrators: providers, tool servers, guardrail services. It
 * connects to exactly the address that was checked (no DNS rebinding), and to the host's next address if one fails. It
 * follows no redirect, because that would carry prompt and credential to another origin. Bun's own timeout of 360 s of
 * silence is off: deadlines come from `signal`.
 */
export const createOutboundFetch =
  (guard: Pick<AddressGuard, "resolveOrigin">): OutboundFetch =>
  ({ url, allowPrivateNetwork }, request) => {
    const origin = ORIGIN.exec(url)?.[0] ?? url;
    const fetchFrom = (resolved: ResolvedOrigin) => {
      const at = resolved.origin === null ? url : resolved.origin + url.slice(origin.length);
      const answer = fetch(at, requestVia(resolved, request));
      return request.decompress === false ? answer : answer.then(decodedAnswer);
    };
    const origins = guard.resolveOrigin(origin, allowPrivateNetwork);
    return origins instanceof Promise
      ? origins.then((found) => firstAnswer(found, request, fetchFrom))
      : firstAnswer(origins, request, fetchFrom);
  };

/** The answer from the first address that accepts a connection. */
function firstAnswer(
  origins: ResolvedOrigin[],
  request: OutboundRequest,
  fetchFrom: (resolved: ResolvedOrigin) => Promise<Response>,
): Promise<Response> {
  const [only] = origins;
  return only && origins.length === 1 ? fetchFrom(only) : answerInTurn(origins, request, fetchFrom);
}

async function answerInTurn(
  origins: ResolvedOrigin[],
  { body, signal }: OutboundRequest,
  fetchFrom: (resolved: ResolvedOrigin) => Promise<Response>,
): Promise<Response> {
  for (const [tried, resolved] of [...origins].entries()) {
    try {
      return await fetchFrom(resolved);
    } catch (cause) {
      putLast(origins, resolved);
      const last = tried === origins.length - 1 || signal.aborted || isTaken(body);
      if (last || !neverSent(cause)) throw cause;
    }
  }
  throw new RangeError("an origin that passed has at least one address");
}

const isTaken = (body: OutboundRequest["body"]): boolean => body instanceof ReadableStream && body.locked;

/** Skipped if another call has already done so. */
function putLast(origins: ResolvedOrigin[], resolved: ResolvedOrigin): void {
  if (origins[0] === resolved) origins.push(...origins.splice(0, 1));
}

function requestVia(
  { origin, host, serverName }: ResolvedOrigin,
  { method, headers, body, signal }: OutboundRequest,
): BunFetchRequestInit {
  // The type checker widens `redirect` to a plain string in a variable.
  const init = {
    method,
    headers,
    body: body ?? null,
    signal,
    decompress: false,
    redirect: "manual",
    timeout: false,
  } as BunFetchRequestInit;
  if (origin === null) return init;
  headers["host"] = host;
  return { ...init, tls: { serverName } };
}

const DECODERS: ReadonlyMap<string | undefined, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/**
 * A compressed answer, decoded as fast as it is read and no further. Bun's own decoding continues after the reader has
 * left: 2 kB of brotli then took 1.4 GB, and all other calls of the process waited for 12 s. An unknown coding stays.
 */
function decodedAnswer(answer: Response): Response {
  const { body, headers, status } = answer;
  const open = DECODERS.get(headers.get("content-encoding")?.trim().toLowerCase());
  // Other statuses are faults, and no `Response` can be made with them.
  if (!body || !open || status < 200 || status > 599) return answer;
  const decoder = open();
  // Its end, failure included, is that of the decoder, which is read below.
  pipeline(Readable.from(partsOf(body)), decoder, () => undefined);
  const parts: AsyncIterator<Uint8Array> = decoder[Symbol.asyncIterator]();
  const decoded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void decoder.destroy(),
    },
    // Decode nothing ahead of a pull.
    { highWaterMark: 0 },
  );
  return new Response(decoded, { status, headers });
}

async function* partsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}
