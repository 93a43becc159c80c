import type { Clock } from "#shared/clock.ts";
import type { HeaderView } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { BODY_BYTES_PER_SECOND, type Patience } from "./patience.ts";
import type { Watchdog } from "./watchdog.ts";

export type RequestBody = {
  /** The next chunk; null after the last one. @throws GatewayError too_large, request_timeout, invalid_request */
  next(): Promise<Uint8Array | null>;
  /** Stops reading. */
  cancel(): void;
};

export type RequestBodyDeps = { clock: Clock; watchdog: Watchdog; patience: Patience };

export const bodyBroken = (cause?: unknown) =>
  new GatewayError("invalid_request", "The request body ended early.", cause);

/** The connection is closed, because the rest of the body may still come on it. */
export const bodyTooSlow = () =>
  Object.assign(new GatewayError("request_timeout"), { headers: { connection: "close" } });

/** How long a client may take in all for a body of which `bytes` have come, or are to come. */
export const bodyWaitMs = ({ bodyMs }: Patience, bytes: number): number =>
  bodyMs + (bytes / BODY_BYTES_PER_SECOND) * 1000;

/**
 * Reads a request body chunk by chunk, up to `bytesMax` bytes. A client that pauses too long, or sends so slowly
 * that it could hold a connection forever, is refused.
 * @throws GatewayError too_large for a declared length over `bytesMax`.
 */
export function openRequestBody(
  request: Request,
  bytesMax: number,
  { clock, watchdog, patience }: RequestBodyDeps,
): RequestBody {
  const declared = declaredLength(request.headers);
  if (declared !== null && declared > bytesMax) throw new GatewayError("too_large");
  const reader = request.body?.getReader();
  let received = 0;
  let waitedMs = 0;

  async function read(): Promise<Uint8Array | null> {
    const startedMs = clock.monotonicMs();
    const leftMs = bodyWaitMs(patience, received) - waitedMs;
    let stalled = false;
    const watched = {
      deadlineMs: startedMs + Math.min(patience.bodyMs, leftMs),
      client: true,
      expire: () => {
        stalled = true;
        void reader?.cancel().catch(() => undefined);
      },
    };
    watchdog.watch(watched);
    try {
      const part = await reader?.read();
      if (stalled) throw bodyTooSlow();
      return part && !part.done ? part.value : null;
    } finally {
      watchdog.release(watched);
      waitedMs += clock.monotonicMs() - startedMs;
    }
  }

  return {
    async next() {
      const chunk = await read().catch((cause) => {
        throw cause instanceof GatewayError ? cause : bodyBroken(cause);
      });
      received += chunk?.byteLength ?? 0;
      if (received > bytesMax) throw new GatewayError("too_large");
      if (chunk === null && declared !== null && received !== declared) throw bodyBroken();
      return chunk;
    },
    cancel: () => void reader?.cancel().catch(() => undefined),
  };
}

/** The declared `content-length`; null unless it is one number. */
export function declaredLength(headers: HeaderView): number | null {
  const declared = headers.get("content-length");
  return declared !== null && /^\d{1,15}$/.test(declared) ? Number(declared) : null;
}

/** A stream of what `next` gives, at the pace of its reader; null is its end. */
export const streamOf = (
  next: () => Promise<Uint8Array | null>,
  cancel: () => void | Promise<void> = () => undefined,
): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const chunk = await next();
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
