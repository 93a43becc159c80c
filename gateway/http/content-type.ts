import type { HeaderView } from "../call.ts";
import { GatewayError } from "../errors.ts";

const CHARSETS = /;\s*charset\s*\*?\d*\*?\s*=\s*("[^"]*"|[^\s;]*)/gi;
const UTF8 = /^"?(?:utf-?8)?"?$/i;

/** Whether a media type has no charset but UTF-8. */
export const isUtf8Type = (type: string | null): boolean =>
  !type?.includes(";") || [...type.matchAll(CHARSETS)].every(([, charset = ""]) => UTF8.test(charset));

/** Bodies are UTF-8 here, so no other charset may reach a provider. @throws GatewayError unsupported_media_type */
export function requireUtf8(headers: Pick<HeaderView, "get">): void {
  if (isUtf8Type(headers.get("content-type"))) return;
  throw new GatewayError("unsupported_media_type", "The body's charset must be UTF-8.");
}

/** Whether an answer is a stream of events. The case of a media type has no meaning (RFC 9110, 8.3.1). */
export const isEventType = (type: string | null): boolean => /^text\/event-stream\b/i.test(type ?? "");

const TYPE = /^multipart\/form-data[ \t]*(?=;)/i;
const PARAMETER = /^[ \t]*;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"([^"\\]*)"|([^\s;"]+))/;

/** RFC 2046, 5.1.1: 1 to 70 characters, the last one not a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** The boundary of `multipart/form-data`; null for other types, and for headers that parsers read differently. */
export function boundaryOf(contentType: string | null): string | null {
  const [type] = TYPE.exec(contentType ?? "") ?? [];
  const parameters =
    type === undefined ? null : parametersOf(contentType?.slice(type.length).trimEnd() ?? "");
  const boundaries = parameters?.filter(({ name }) => name.startsWith("boundary"));
  const [only, another] = boundaries ?? [];
  if (!only || another || only.name !== "boundary") return null;
  return BOUNDARY.test(only.value) ? only.value : null;
}

function parametersOf(text: string): { name: string; value: string }[] | null {
  const parameters: { name: string; value: string }[] = [];
  let rest = text;
  while (rest !== "") {
    const [whole, name = "", quoted, plain] = PARAMETER.exec(rest) ?? [];
    if (whole === undefined) return null;
    parameters.push({ name: name.toLowerCase(), value: quoted ?? plain ?? "" });
    rest = rest.slice(whole.length);
  }
  return parameters;
}
