/** An address with the first of its hosts alone: Postgres's clients take several, separated by commas, and URLs do not. */
export const firstHostOf = (url: string): string => url.replace(/^(\w+:\/\/[^/?,]*),[^/?]*/, "$1");

/** Whether `value` is the address of a Postgres database, with special characters percent-encoded. */
export function isPostgresUrl(value: string): boolean {
  const url = /^postgres(ql)?:\/\/[^\s]+$/.test(value) ? URL.parse(firstHostOf(value)) : null;
  if (url === null || url.hash !== "") return false;
  // More than one: the user name or the password contains an unencoded @.
  if ((value.split("?", 1)[0] ?? "").split("@").length > 2) return false;
  try {
    decodeURIComponent(`${url.username}${url.password}${url.pathname}`);
    return true;
  } catch {
    return false;
  }
}

/** Prisma's word in an address for the connections of a pool. */
export const POOL_MAX = "connection_limit";

/** An address whose pools have at most `most` connections each; undefined: as many as they ask for. */
export const withPoolMax = (url: string, most: number | undefined): string =>
  most === undefined ? url : `${url}${url.includes("?") ? "&" : "?"}${POOL_MAX}=${most}`;
