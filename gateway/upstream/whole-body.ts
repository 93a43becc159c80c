import type { Clock } from "#shared/clock.ts";
import type { HeaderView } from "../call.ts";
import { ProviderFailure } from "./failures.ts";
import type { Watchdog } from "./watchdog.ts";

/** Answers up to this size arrive in a few chunks, so the silence between them is not watched. */
const SHORT_BYTES_MAX = 64 * 1024;

type Answer = {
  answer: Response;
  headers: HeaderView;
  target: { provider: { idleMs: number } };
  abort(): void;
};

const isShort = ({ headers }: Answer): boolean => {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= SHORT_BYTES_MAX;
};

/**
 * All bytes of an answer.
 * @throws what the reader throws if the provider breaks off; ProviderFailure after the provider's `idleMs` of silence, or
 * after that time in all for a short answer.
 */
export async function wholeBody(
  { clock, watchdog }: { clock: Clock; watchdog: Watchdog },
  answered: Answer,
): Promise<Uint8Array<ArrayBuffer>> {
  const { answer, target, abort } = answered;
  const later = () => clock.monotonicMs() + target.provider.idleMs;
  let late = false;
  const expire = () => {
    late = true;
    abort();
  };
  const watched = { deadlineMs: later(), expire };
  const parts: Uint8Array[] = [];
  watchdog.watch(watched);
  try {
    if (isShort(answered)) return await answer.bytes();
    for await (const part of answer.body ?? []) {
      parts.push(part);
      watched.deadlineMs = later();
    }
  } catch (cause) {
    throw late ? new ProviderFailure("timeout_idle", cause) : cause;
  } finally {
    watchdog.release(watched);
  }
  return Buffer.concat(parts);
}
