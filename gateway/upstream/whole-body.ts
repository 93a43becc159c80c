import type { Clock } from "#shared/clock.ts";
import type { HeaderView } from "../call.ts";
import { GAP_MS, type Watchdog } from "./watchdog.ts";

/** Answers up to this size arrive in a few chunks, so the silence between them is not watched. */
const SHORT_BYTES_MAX = 64 * 1024;

type Answer = { answer: Response; headers: HeaderView; abort(): void };

const isShort = ({ headers }: Answer): boolean => {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= SHORT_BYTES_MAX;
};

/**
 * All bytes of an answer.
 * @throws what the reader throws if the provider breaks off or `abort` ends the answer: after `GAP_MS` of silence, or
 * after `GAP_MS` in all for a short answer.
 */
export async function wholeBody(
  { clock, watchdog }: { clock: Clock; watchdog: Watchdog },
  answered: Answer,
): Promise<Uint8Array<ArrayBuffer>> {
  const { answer, abort } = answered;
  const later = () => clock.monotonicMs() + GAP_MS;
  const watched = { deadlineMs: later(), expire: abort };
  const parts: Uint8Array[] = [];
  watchdog.watch(watched);
  try {
    if (isShort(answered)) return await answer.bytes();
    for await (const part of answer.body ?? []) {
      parts.push(part);
      watched.deadlineMs = later();
    }
  } finally {
    watchdog.release(watched);
  }
  return Buffer.concat(parts);
}
