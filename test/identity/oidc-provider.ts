import type { Socket } from "node:net";
import Provider, { type Configuration } from "oidc-provider";
import { atEnd } from "#test/support/at-end.ts";
import { freePort } from "#test/support/ports.ts";

/** A person at the issuer. */
type Claims = { email?: string; email_verified?: boolean; name?: string; groups?: string[] };

export type TestIssuer = {
  url: string;
  /** Who signs in next at the issuer, by the `sub` that the sign-in page takes. */
  people: Map<string, Claims>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export const CLIENT = { id: "tallygate-under-test", secret: "a-client-secret-of-the-suite-000000" };

/**
 * A real OpenID Connect issuer (npm: oidc-provider, certified by the OpenID Foundation) whose pages sign in whoever the
 * form names. It demands PKCE.
 */
export async function testIssuer(redirectUris: string[], more: Configuration = {}): Promise<TestIssuer> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const people = new Map<string, Claims>();
  const provider = new Provider(url, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    pkce: { required: () => true },
    cookies: { keys: ["a cookie key of the suite"] },
    findAccount: async (_, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) }),
    ...more,
  });
  const sockets = new Set<Socket>();
  let server: ReturnType<typeof provider.listen> | null = null;
  const start = () =>
    new Promise<void>((resolve) => {
      server = provider.listen(port, "127.0.0.1", resolve);
      server.on("connection", (socket) => sockets.add(socket));
    });
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server?.close(() => resolve()));
  };
  await start();
  atEnd(stop);
  return { url, people, start, stop };
}
