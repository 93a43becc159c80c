import type { HeaderView } from "../call.ts";
import { GatewayError } from "../errors.ts";

const CHARSETS = /;\s*charset\s*\*?\d*\*?\s*=\s*("[^"]*"|[^\s;]*)/gi;
const UTF8 = /^"?(?:utf-?8)?"?$/i;

/** Whether a media type has no charset but UTF-8. */
export const isUtf8Type = (type: string | null): boolean =>
  [...(type ?? "").matchAll(CHARSETS)].every(([, charset = ""]) => UTF8.test(charset));

/**
 * Bodies are read as UTF-8, so a provider must not be told to read them otherwise.
 * @throws GatewayError unsupported_media_type
 */
export function requireUtf8(headers: Pick<HeaderView, "get">): void {
  if (isUtf8Type(headers.get("content-type"))) return;
  throw new GatewayError("unsupported_media_type", "The body's charset must be UTF-8.");
}

/** Whether an answer is a stream of events. The case of a media type has no meaning (RFC 9110, 8.3.1). */
export const isEventType = (type: string | null): boolean => /^text\/event-stream\b/i.test(type ?? "");
