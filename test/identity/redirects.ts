/** Where people reach the gateway under test; its process listens somewhere else. */
export const PUBLIC_URL = "http://gateway.test";

type Visit = { url: string; status: number; text: string };

/** A browser that follows redirects between sites and keeps each site's cookies. */
export type TravellingBrowser = {
  /** The page at which the redirects end, or the first address that `halt` names, without asking for it. */
  visit(url: string, form?: Record<string, string>, halt?: (url: URL) => boolean): Promise<Visit>;
  /** The cookies that the gateway has set, as a request sends them. */
  cookie(): string;
  setCookie(name: string, value: string): void;
};

/** `listens`: where the process behind `PUBLIC_URL` is. */
export function travellingBrowser(listens: string): TravellingBrowser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookieOf = (origin: string) =>
    [...jarOf(origin)].map(([name, value]) => `${name}=${value}`).join("; ");
  const ask = async (url: URL, form: Record<string, string> | undefined): Promise<Response> => {
    const to = url.origin === PUBLIC_URL ? listens + url.pathname + url.search : url;
    const answer = await fetch(to, {
      method: form ? "POST" : "GET",
      redirect: "manual",
      headers: { cookie: cookieOf(url.origin), accept: "text/html" },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jarOf(url.origin).delete(name);
      else jarOf(url.origin).set(name, value);
    }
    return answer;
  };
  return {
    async visit(address, form, halt = () => false) {
      let url = new URL(address);
      let sent = form;
      for (let hop = 0; hop < 20; hop++) {
        if (halt(url)) return { url: url.href, status: 0, text: "" };
        const answer = await ask(url, sent);
        const text = await answer.text();
        const location = answer.headers.get("location");
        if (answer.status < 300 || answer.status > 399 || location === null) {
          return { url: url.href, status: answer.status, text };
        }
        url = new URL(location, url);
        sent = undefined;
      }
      throw new Error("the redirects do not end");
    },
    cookie: () => cookieOf(PUBLIC_URL),
    setCookie: (name, value) => void jarOf(PUBLIC_URL).set(name, value),
  };
}

/** Whether an address is one of the console's pages, where a sign-in ends. */
export const isPage = (url: URL): boolean => url.origin === PUBLIC_URL && !url.pathname.startsWith("/auth/");
export const isCallback = (url: URL): boolean =>
  url.origin === PUBLIC_URL && url.pathname.startsWith("/auth/callback/");
