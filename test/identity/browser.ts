import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import type { LocalGateway } from "#test/support/local-gateway.ts";

/** A link for a person, or for the first administrator (null). */
export async function linkFor(gateway: LocalGateway, email: string | null): Promise<string> {
  const body = email === null ? {} : { email };
  return (await gateway.admin<{ url: string }>("POST", "/sign-in-links", body)).url;
}

export const tokenOf = (link: string): string => new URL(link).searchParams.get("token") ?? "";

export const redeem = (
  gateway: { url: string },
  body: { token: string; email?: string; name?: string },
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${gateway.url}/auth/sign-in/link`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: new URL(gateway.url).origin, ...headers },
    body: JSON.stringify(body),
  });

/** A signed-in browser. It keeps the cookie that answers set, as browsers do. */
export type Browser = {
  /** `name=value`. */
  cookie: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
};

/** Signs a person in by a one-time link, on any of the gateways that share a database. */
export async function signIn(gateway: LocalGateway, email: string): Promise<Browser> {
  const answer = await redeem(gateway, { token: tokenOf(await linkFor(gateway, email)) });
  if (answer.status !== 200) throw new Error(`${email} cannot sign in: ${await answer.text()}`);
  return browserWith(gateway.url, cookieIn(answer) ?? "");
}

export function browserWith(url: string, cookie: string): Browser {
  const browser: Browser = {
    cookie,
    async send(method, path, body, headers = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        redirect: "manual",
        headers: {
          cookie: browser.cookie,
          ...(method === "GET" ? {} : { origin: url }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      browser.cookie = cookieIn(answer) ?? browser.cookie;
      return answer;
    },
  };
  return browser;
}

/** The session cookie that an answer sets, as `name=value`. */
export const cookieIn = (answer: Response): string | undefined =>
  answer.headers
    .getSetCookie()
    .find((it) => it.includes("tallygate_session="))
    ?.split(";")[0];

export const byAdminKey = { authorization: `Bearer ${ADMIN_KEY}` };
