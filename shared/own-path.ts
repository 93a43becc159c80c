const NOWHERE = "http://nowhere.invalid";

/**
 * `value` as a path of this server with its query and fragment; null if it could take a browser to another server.
 * Parsed as browsers do: they drop tabs, and take `//host`, `/\host` and `/.//host` for other servers.
 */
export function ownPath(value: string | null): string | null {
  if (value === null || !value.startsWith("/")) return null;
  const url = URL.parse(value, NOWHERE);
  if (url?.origin !== NOWHERE || url.pathname.startsWith("//")) return null;
  return `${url.pathname}${url.search}${url.hash}`;
}
