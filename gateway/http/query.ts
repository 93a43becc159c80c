/** Parameters that may carry a credential, which belongs to whoever it was presented to. */
const CREDENTIAL = /key|token|secret|auth|sig|credential|password/i;
/** A credential of the gateway's own under any name. */
const OWN = /^tg[a-z]?_/;

/**
 * A request's query, `?` included, for a provider of the same format (`?beta=true`): without parameters that may carry
 * a credential. Empty without one.
 */
export function forwardedQuery(url: string): string {
  const at = url.indexOf("?");
  if (at === -1) return "";
  const query = new URLSearchParams(url.slice(at, url.includes("#") ? url.indexOf("#") : undefined));
  const kept = [...query].filter(([name, value]) => !CREDENTIAL.test(name) && !OWN.test(value));
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`;
}
