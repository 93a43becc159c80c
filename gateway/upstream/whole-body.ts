import type { Clock } from "#shared/clock.ts";
import { GAP_MS, type Watchdog } from "./watchdog.ts";

/**
 * All bytes of an answer.
 * @throws what the reader throws when the provider breaks off, or is silent for `GAP_MS` and `abort` ends it.
 */
export async function wholeBody(
  { clock, watchdog }: { clock: Clock; watchdog: Watchdog },
  { body }: Response,
  abort: () => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const later = () => clock.monotonicMs() + GAP_MS;
  const watched = { deadlineMs: later(), expire: abort };
  const parts: Uint8Array[] = [];
  watchdog.watch(watched);
  try {
    for await (const part of body ?? []) {
      parts.push(part);
      watched.deadlineMs = later();
    }
  } finally {
    watchdog.release(watched);
  }
  return Buffer.concat(parts);
}
