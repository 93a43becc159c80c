import { type Static, Type } from "@sinclair/typebox";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { betterAuth } from "better-auth/minimal";
import type { Database } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import { fits } from "#shared/schema.ts";
import { authAdapter } from "./auth-adapter.ts";
import { type SessionHooksDeps, sessionHooks } from "./auth-hooks.ts";
import { isFromOwnPage } from "./own-origin.ts";
import type { CookieFacts } from "./session-cookie.ts";
import { SESSION_SECONDS_MAX } from "./session-policy.ts";

export type AuthOptions = {
  database: Database;
  /** Signs cookies. */
  secret: string;
  /** URL at which browsers reach the gateway, without a trailing slash. */
  url: string;
  /** Null: any that a request names as its host. */
  publicUrl: string | null;
  cookie: CookieFacts;
  /** IP address of whoever makes a request; null: it is not known. */
  addressOf: SessionHooksDeps["addressOf"];
  clock: Clock;
  log: Log;
};

/** Addresses of the library below `/auth` that are open. A way in adds its own; every other address is a 404. */
export const AUTH_PATHS: readonly string[] = ["/sign-out"];

export type Auth = {
  /** Answers a request to one of `AUTH_PATHS`. */
  handler(request: Request): Promise<Response>;
  /** Signs in a person whom the caller has identified; the cookies are in the answer's headers. */
  signIn(personId: string, request: Request): Promise<Headers>;
};

/**
 * The sign-in library, set up in this one place: sessions and their cookie, sign-out, and the ways in (plugins). Roles,
 * idle times and rotation are ours (viewer.ts); nothing else imports the library.
 */
export function openAuth({ database, secret, url, publicUrl, cookie, ...deps }: AuthOptions): Auth {
  const auth = betterAuth({
    appName: "Tallygate",
    baseURL: url,
    basePath: "/auth",
    secret,
    trustedOrigins: (request) => ownOrigins(request, publicUrl),
    database: authAdapter(database),
    // The ends of sessions depend on roles: session-policy.ts sets them, and viewer.ts puts them off.
    session: {
      fields: { userId: "personId" },
      additionalFields: { role: { type: "string", input: false } },
      expiresIn: SESSION_SECONDS_MAX,
      disableSessionRefresh: true,
    },
    account: { fields: { userId: "personId" }, encryptOAuthTokens: true },
    databaseHooks: { session: sessionHooks({ database, ...deps }) },
    plugins: [{ id: "tallygate", endpoints: { openSession } }],
    advanced: {
      database: { generateId: () => newId() },
      // The name has its own prefix, so the library adds none.
      useSecureCookies: false,
      cookiePrefix: "tallygate",
      cookies: { session_token: cookie },
    },
    // Guesses are counted where credentials are read (plugins/refusals.ts).
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    // The message may quote what a client sent.
    logger: {
      level: "error",
      log: (level) => deps.log.warn({ level }, "the sign-in library reports a fault"),
    },
  });
  return {
    handler: auth.handler,
    async signIn(personId, request) {
      const input = { body: { personId } satisfies Identified, headers: request.headers, request };
      const { headers } = await auth.api.openSession({ ...input, returnHeaders: true });
      return headers;
    },
  };
}

function ownOrigins(request: Request | undefined, publicUrl: string | null): string[] {
  const origin = request?.headers.get("origin");
  return request && origin && isFromOwnPage(request.headers, publicUrl) ? [origin] : [];
}

const Identified = Type.Object({ personId: Type.String() });
type Identified = Static<typeof Identified>;

/** Who is signed in, as a schema of the library's kind. */
const identified: { readonly "~standard": Standard<Identified> } = {
  "~standard": {
    version: 1,
    vendor: "tallygate",
    validate: (value: unknown) =>
      fits(Identified, value) ? { value } : { issues: [{ message: "Expected a person." }] },
  },
};
type Standard<T> = {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => { value: T } | { issues: { message: string }[] };
  readonly types?: { input: T; output: T };
};

/** Without a path it has no address: only this process can call it. */
const openSession = createAuthEndpoint({ method: "POST", body: identified }, async (ctx) => {
  const { internalAdapter } = ctx.context;
  const user = await internalAdapter.findUserById(ctx.body.personId);
  const session = user && (await internalAdapter.createSession(user.id));
  if (!session) throw ctx.error("FORBIDDEN");
  await setSessionCookie(ctx, { session, user });
  return ctx.json({ id: session.id });
});
