import type { HeaderView } from "../call.ts";

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
 * Null if it does not say, or says it unreadably.
 */
export function retryAfterMs(headers: Pick<HeaderView, "get">, now: Date): number | null {
  const exact = decimal(headers.get("retry-after-ms"));
  if (exact !== null) return exact;
  const text = headers.get("retry-after");
  const seconds = decimal(text);
  if (seconds !== null) return seconds * 1000;
  const atMs = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - now.getTime());
}

const decimal = (text: string | null): number | null =>
  text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
