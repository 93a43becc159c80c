const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** An https URL without a user or an anchor; http only on this machine. */
export function isSecureUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.hash !== "" || url.username !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.includes(url.hostname));
}

export const isLine = (value: string): boolean => value.length <= 1000 && !/\p{Cc}/u.test(value);
