import type { Clock } from "#shared/clock.ts";
import { joinSignals } from "#shared/join-signals.ts";
import type { ToolServer } from "../directory.ts";
import { type ErrorType, GatewayError } from "../errors.ts";
import type { HeaderTable } from "../http/headers.ts";
import { ProviderFailure, unanswered } from "./failures.ts";
import type { OutboundFetch } from "./outbound-fetch.ts";
import type { Watchdog } from "./watchdog.ts";

/** Silence allowed before an answer and between its chunks; below the gateway server's own idle timeout. */
const SILENCE_MS = 240_000;

/** Maximum size of an answer: well above the request limit, because images come as base64. */
const TOOL_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

type ToolRequest = {
  method: string;
  headers: Headers;
  body?: BodyInit | Uint8Array | null;
  signal?: AbortSignal | null;
};

/**
 * The server was reached but refuses the gateway's credential, or redirects. Only an administrator can fix that, so it
 * is not reported as a 401, which would make a client start a sign-in.
 */
export class ToolServerRefusal extends GatewayError {
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

/** @throws GatewayError upstream_unreachable, upstream_broken, upstream_timeout; ToolServerRefusal */
export type ToolServerFetch = (server: ToolServer, request: ToolRequest) => Promise<Response>;

export type ToolServerDeps = {
  reach: OutboundFetch;
  clock: Clock;
  watchdog: Watchdog;
};

/**
 * The only place that talks to tool servers: with no credential but the one stored by an administrator, to no internal
 * address, without following redirects, and within the bounds above.
 */
export function createToolServerFetch({ reach, clock, watchdog }: ToolServerDeps): ToolServerFetch {
  return async (server, { method, headers, body, signal }) => {
    const silence = new AbortController();
    const watched = { deadlineMs: clock.monotonicMs() + SILENCE_MS, expire: () => silence.abort() };
    watchdog.watch(watched);
    const joined = joinSignals([silence.signal, ...(signal ? [signal] : [])]);
    const release = () => {
      watchdog.release(watched);
      joined.leave();
    };
    const moved = () => {
      watched.deadlineMs = clock.monotonicMs() + SILENCE_MS;
    };
    try {
      const answer = await reach(server, {
        method,
        headers: withCredential(headers, server),
        body: body ?? null,
        signal: joined.signal,
      });
      requireUsable(server, answer);
      return bounded(answer, { server, moved, release, silence: silence.signal });
    } catch (cause) {
      release();
      throw failed(server, cause, silence.signal.aborted);
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

const SENTENCES: Partial<Record<ErrorType, string>> = {
  upstream_timeout: "The tool server did not answer in time.",
  upstream_unreachable: "The tool server could not be reached.",
  // After a connection was established, it is unknown whether the server processed the message.
  upstream_broken: "The tool server's answer ended early.",
};

const failed = ({ name }: ToolServer, cause: unknown, late: boolean): GatewayError =>
  cause instanceof ToolServerRefusal
    ? cause
    : unanswered({ who: `server ${name}`, cause, late, sentences: SENTENCES });

type Bounds = { server: ToolServer; moved(): void; release(): void; silence: AbortSignal };

/** The answer, limited in size and in silence between reads; a client that reads too slowly is cut off as well. */
function bounded(answer: Response, { server, moved, release, silence }: Bounds): Response {
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
        if (size > TOOL_ANSWER_BYTES_MAX) throw new ProviderFailure("bad_answer");
        controller.enqueue(value);
      } catch (cause) {
        release();
        void reader.cancel().catch(() => undefined);
        const broken = silence.aborted ? new ProviderFailure("timeout_idle", cause) : cause;
        controller.error(failed(server, broken, false));
      }
    },
    cancel(reason) {
      release();
      return reader.cancel(reason);
    },
  });
  return new Response(body, { status, headers });
}
