import { CALL } from "./deciding-names.ts";
import { foldedName } from "./one-reading.ts";

/** Parameters that may carry a credential, which belongs to whoever it was presented to. */
const CREDENTIAL = /^(?!(?:next_?)?page_?token$).*(?:key|token|secret|auth|sig|credential|password)/i;
/** A credential of the gateway's own under any name. */
const OWN = /^tg[a-z]?_/;

/** Whether a server may take the parameter for a member of the body, and prefer it. Some write lists as `name[]`. */
const decides = (name: string): boolean => CALL.names.has(foldedName(name.trim()).replace(/\[.*/, ""));

/** A query with its `?` for a provider of the format, without credentials and what only bodies may decide; or empty. */
export function forwardedQuery(url: string): string {
  const at = url.indexOf("?");
  if (at === -1) return "";
  const query = new URLSearchParams(url.slice(at, url.includes("#") ? url.indexOf("#") : undefined));
  const kept = [...query].filter(
    ([name, value]) => !CREDENTIAL.test(name) && !OWN.test(value) && !decides(name),
  );
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`;
}
