import type { Clock } from "#shared/clock.ts";
import type { HeaderView } from "../call.ts";
import { ProviderFailure } from "./failures.ts";
import type { Watchdog } from "./watchdog.ts";

/** Answers up to this size are read whole before anything of them is passed on: they arrive in a few chunks. */
export const SHORT_BYTES_MAX = 64 * 1024;

type Answer = {
  answer: Response;
  headers: HeaderView;
  target: { provider: { idleMs: number } };
  abort(): void;
};

export type AnswerPart = Bun.ReadableStreamDefaultReadResult<Uint8Array>;

/** `whole`: all bytes. `longer`: reads an answer of more than `bytesMax` bytes, from its beginning. */
export type Read =
  | { whole: Uint8Array<ArrayBuffer>; longer: null }
  | { whole: null; longer: () => Promise<AnswerPart> };

/** NaN if unknown. A compressed answer declares its compressed length, but may be decoded as it is read. */
const lengthOf = ({ headers }: Answer): number =>
  Number((headers.has("content-encoding") ? null : headers.get("content-length")) ?? Number.NaN);

export type ReadLimits = {
  bytesMax: number;
  /** Called for each part before the next is read. */
  take?: ((bytes: number) => void) | undefined;
};

/**
 * Reads an answer up to `bytesMax` bytes.
 * @throws what the reader throws if the provider breaks off, and what `take` throws; ProviderFailure after the provider's
 * `idleMs` of silence, or after that time in all for a short answer.
 */
export async function readUpTo(
  { clock, watchdog }: { clock: Clock; watchdog: Watchdog },
  answered: Answer,
  limits: ReadLimits,
): Promise<Read> {
  const { answer, target, abort } = answered;
  const later = () => clock.monotonicMs() + target.provider.idleMs;
  let late = false;
  const expire = () => {
    late = true;
    abort();
  };
  const watched = { deadlineMs: later(), expire };
  watchdog.watch(watched);
  try {
    if (lengthOf(answered) <= SHORT_BYTES_MAX) return { whole: await answer.bytes(), longer: null };
    return await readParts(answer, lengthOf(answered), {
      ...limits,
      moved: () => {
        watched.deadlineMs = later();
      },
    });
  } catch (cause) {
    throw late ? new ProviderFailure("timeout_idle", cause) : cause;
  } finally {
    watchdog.release(watched);
  }
}

/** Reads bytes in parts of at most `SHORT_BYTES_MAX`. */
export function partsOf(bytes: Uint8Array): () => Promise<AnswerPart> {
  let at = 0;
  return async () => {
    if (at >= bytes.byteLength) return { done: true, value: undefined };
    const value = bytes.subarray(at, at + SHORT_BYTES_MAX);
    at += value.byteLength;
    return { done: false, value };
  };
}

async function readParts(
  { body }: Response,
  declared: number,
  { bytesMax, take, moved }: ReadLimits & { moved(): void },
): Promise<Read> {
  if (!body) return { whole: new Uint8Array(), longer: null };
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size <= bytesMax && !(declared > bytesMax)) {
    const { done, value } = await reader.read();
    if (done) return { whole: Buffer.concat(parts), longer: null };
    moved();
    size += value.byteLength;
    take?.(value.byteLength);
    parts.push(value);
  }
  return {
    whole: null,
    longer: () => {
      const value = parts.shift();
      return value ? Promise.resolve({ done: false, value }) : reader.read();
    },
  };
}

/** A short answer's body. @throws what `tooLong` makes over `bytesMax`; what the stream throws if it breaks off. */
export async function bytesUpTo(
  { body }: Pick<Response, "body">,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > bytesMax) throw tooLong();
    parts.push(part);
  }
  return Buffer.concat(parts);
}
