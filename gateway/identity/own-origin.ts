/** Whether a browser's request is from our own page: the public address's origin, else the host that it names. */
export function isFromOwnPage(headers: Headers, publicUrl: string | null): boolean {
  const origin = URL.parse(headers.get("origin") ?? "");
  if (origin === null || !/^https?:$/.test(origin.protocol)) return false;
  const own = publicUrl === null ? null : new URL(publicUrl);
  if (own?.origin === origin.origin) return true;
  if (own?.host === origin.host) return false;
  return URL.parse(`${origin.protocol}//${headers.get("host") ?? ""}`)?.origin === origin.origin;
}
