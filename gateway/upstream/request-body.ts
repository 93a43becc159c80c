import type { Clock } from "#shared/clock.ts";
import type { HeaderView } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { Watchdog } from "./watchdog.ts";

/** Longest pause allowed while a client sends a body. */
const SILENCE_MS = 120_000;
/** Total time to wait for a client, plus one second per `bytesPerSecond` bytes received. */
const WAIT = { ms: 60_000, bytesPerSecond: 16 * 1024 } as const;

export type RequestBody = {
  /** The next chunk; null after the last one. @throws GatewayError too_large, invalid_request */
  next(): Promise<Uint8Array | null>;
  /** Stops reading. */
  cancel(): void;
};

export type RequestBodyDeps = { clock: Clock; watchdog: Watchdog };

export const bodyBroken = (cause?: unknown) =>
  new GatewayError("invalid_request", "The request body broke off.", cause);

/**
 * Reads a request body chunk by chunk, up to `bytesMax` bytes. Fails for a client that pauses too long or sends so
 * slowly that it could hold a connection forever.
 * @throws GatewayError too_large for a declared length over `bytesMax`.
 */
export function openRequestBody(
  request: Request,
  bytesMax: number,
  { clock, watchdog }: RequestBodyDeps,
): RequestBody {
  const declared = declaredLength(request.headers);
  if (declared !== null && declared > bytesMax) throw new GatewayError("too_large");
  const reader = request.body?.getReader();
  let received = 0;
  let waitedMs = 0;

  async function read(): Promise<Uint8Array | null> {
    const startedMs = clock.monotonicMs();
    const leftMs = WAIT.ms + (received / WAIT.bytesPerSecond) * 1000 - waitedMs;
    let stalled = false;
    const watched = {
      deadlineMs: startedMs + Math.min(SILENCE_MS, leftMs),
      expire: () => {
        stalled = true;
        void reader?.cancel().catch(() => undefined);
      },
    };
    watchdog.watch(watched);
    try {
      const part = await reader?.read();
      if (stalled) throw new GatewayError("invalid_request", "The request body came too slowly.");
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
