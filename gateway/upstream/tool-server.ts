import type { Clock } from "#shared/clock.ts";
import { joinSignals } from "#shared/join-signals.ts";
import type { ToolServer } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { HeaderTable } from "../http/headers.ts";
import { failureOf } from "./failures.ts";
import type { OutboundFetch } from "./outbound-fetch.ts";
import type { Watchdog } from "./watchdog.ts";

/** Silence allowed before an answer and between two pieces of it; our own server would end a longer one anyway. */
const SILENCE_MS = 240_000;

/** What a server may answer to one request: pictures come as base64, so it is well above what may be asked. */
const TOOL_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

type ToolRequest = {
  method: string;
  headers: Headers;
  body?: BodyInit | Uint8Array | null;
  signal?: AbortSignal | null;
};

/**
 * The server was reached and took nothing: it refuses our own credential, or leads elsewhere. An administrator can mend
 * it and no client can, so it is not told as a 401, which would make a client sign in somewhere.
 */
export class ToolServerRefusal extends GatewayError {
  /** Of HTTP. */
  readonly status: number;

  constructor(server: string, status: number) {
    const what = isRedirect(status)
      ? "redirects, which the gateway does not follow"
      : "refuses the gateway's credential";
    const cause = Object.assign(new Error(`HTTP ${status}`), { code: `HTTP_${status}` });
    super("provider_unconfigured", `The tool server ${server} ${what}.`, cause);
    this.status = status;
  }
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/**
 * Asks a tool server.
 * @throws GatewayError upstream_unreachable, upstream_broken, upstream_timeout; ToolServerRefusal
 */
export type ToolServerFetch = (server: ToolServer, request: ToolRequest) => Promise<Response>;

export type ToolServerDeps = {
  reach: OutboundFetch;
  clock: Clock;
  watchdog: Watchdog;
};

/**
 * The one place that talks to tool servers: with the credential that an administrator stored and no other, to no
 * address of the inside, following no redirect, and never for longer or for more than the bounds above.
 */
export function createToolServerFetch({ reach, clock, watchdog }: ToolServerDeps): ToolServerFetch {
  return async (server, { method, headers, body, signal }) => {
    const silence = new AbortController();
    const watched = { deadlineMs: clock.monotonicMs() + SILENCE_MS, expire: () => silence.abort() };
    watchdog.watch(watched);
    const either = joinSignals([silence.signal, ...(signal ? [signal] : [])]);
    const release = () => {
      watchdog.release(watched);
      either.leave();
    };
    const moved = () => {
      watched.deadlineMs = clock.monotonicMs() + SILENCE_MS;
    };
    try {
      const answer = await reach(server, {
        method,
        headers: withCredential(headers, server),
        body: body ?? null,
        signal: either.signal,
      });
      requireUsable(server, answer);
      return bounded(answer, { moved, release });
    } catch (cause) {
      release();
      if (cause instanceof GatewayError) throw cause;
      throw failed(cause, silence.signal.aborted);
    }
  };
}

function withCredential(from: Headers, server: ToolServer): HeaderTable {
  const headers: HeaderTable = from.toJSON();
  headers["accept-encoding"] = "identity";
  const secret = server.credential?.reveal();
  if (secret === undefined) return headers;
  if (server.credentialHeader === null) headers["authorization"] = `Bearer ${secret}`;
  else headers[server.credentialHeader.toLowerCase()] = secret;
  return headers;
}

/** @throws ToolServerRefusal */
function requireUsable({ name }: ToolServer, { status, body }: Response): void {
  if (!isRedirect(status) && status !== 401 && status !== 403) return;
  void body?.cancel();
  throw new ToolServerRefusal(name, status);
}

function failed(cause: unknown, timedOut: boolean): GatewayError {
  if (timedOut) return new GatewayError("upstream_timeout", "The tool server did not answer in time.", cause);
  // Whatever failed after the connection stood leaves open what the server made of the message.
  return failureOf(cause, true) === "upstream_unreachable"
    ? new GatewayError("upstream_unreachable", "The tool server could not be reached.", cause)
    : new GatewayError("upstream_broken", "The tool server's answer broke off.", cause);
}

type Bounds = { moved(): void; release(): void };

/** The answer, counted as it is read; whoever reads it too slowly or too long is cut off with it. */
function bounded(answer: Response, { moved, release }: Bounds): Response {
  const { status } = answer;
  const headers = new Headers(answer.headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  if (answer.body === null) {
    release();
    return new Response(null, { status, headers });
  }
  let size = 0;
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          release();
          controller.close();
          return;
        }
        moved();
        size += value.byteLength;
        if (size > TOOL_ANSWER_BYTES_MAX) throw new Error("the answer is too large");
        controller.enqueue(value);
      } catch (cause) {
        release();
        void reader.cancel().catch(() => undefined);
        controller.error(failed(cause, false));
      }
    },
    cancel(reason) {
      release();
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status, headers });
}
