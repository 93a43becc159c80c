import { type Static, Type } from "@sinclair/typebox";
import { createAuthEndpoint } from "better-auth/api";
import { setSessionCookie } from "better-auth/cookies";
import { betterAuth } from "better-auth/minimal";
import type { Database } from "#drizzle/database.ts";
import type { Ambient } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { authAdapter } from "./auth-adapter.ts";
import { type SessionHooksDeps, sessionHooks } from "./auth-hooks.ts";
import { comeBack, type Kept, leave, standard } from "./auth-trip.ts";
import { isFromOwnPage } from "./own-origin.ts";
import type { CookieFacts } from "./session-cookie.ts";
import { SESSION_SECONDS_MAX } from "./session-policy.ts";

export type AuthOptions = Ambient & {
  database: Database;
  /** Signs cookies. */
  secret: string;
  /** URL at which browsers reach the gateway, without a trailing slash. */
  url: string;
  /** Null: any that a request names as its host. */
  publicUrl: string | null;
  cookie: CookieFacts;
  /** Cookie of a browser that is away at an identity provider. */
  tripCookie: CookieFacts;
  /** IP address of whoever makes a request; null: it is not known. */
  addressOf: SessionHooksDeps["addressOf"];
};

export type Auth = {
  /** Answers a request to one of the library's own addresses. */
  handler(request: Request): Promise<Response>;
  /** Signs in a person whom the caller has identified by `way`; the cookies are in the answer's headers. */
  signIn(opening: Opening, request: Request): Promise<Headers>;
  /** The values for a trip to an identity provider; the headers set a cookie for the return. */
  leave(it: Leaving, request: Request): Promise<Departure>;
  /** The data stored for a returning browser; null: the state is not this browser's, or is too old. */
  comeBack(state: string, request: Request): Promise<{ kept: Kept; headers: Headers } | null>;
};

type Leaving = { way: string; callbackURL: string };
type Departure = { state: string; codeVerifier: string; nonce: string; headers: Headers };

/**
 * The sign-in library, set up in this one place: sessions and their cookie, sign-out, and the ways in (plugins). Roles,
 * idle times and rotation are ours (viewer.ts).
 */
export function openAuth({
  database,
  secret,
  url,
  publicUrl,
  cookie,
  tripCookie,
  ...deps
}: AuthOptions): Auth {
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
      additionalFields: {
        role: { type: "string", input: false },
        way: { type: "string", input: false, required: false },
      },
      expiresIn: SESSION_SECONDS_MAX,
      disableSessionRefresh: true,
    },
    account: { fields: { userId: "personId" }, encryptOAuthTokens: true, storeStateStrategy: "cookie" },
    databaseHooks: { session: sessionHooks({ database, ...deps }) },
    plugins: [{ id: "tallygate", endpoints: { openSession, leave, comeBack } }],
    advanced: {
      database: { generateId: () => newId() },
      // The name has its own prefix, so the library adds none.
      useSecureCookies: false,
      cookiePrefix: "tallygate",
      cookies: { session_token: cookie, oauth_state: tripCookie },
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
    async signIn(body, request) {
      const input = { body, headers: request.headers, request };
      const { headers } = await auth.api.openSession({ ...input, returnHeaders: true });
      return headers;
    },
    async leave(body, { headers: asked }) {
      const { headers, response } = await auth.api.leave({ body, headers: asked, returnHeaders: true });
      return { ...response, headers };
    },
    async comeBack(state, { headers: asked }) {
      const input = { body: { state }, headers: asked };
      const { headers, response } = await auth.api.comeBack({ ...input, returnHeaders: true });
      return response && { kept: response, headers };
    },
  };
}

function ownOrigins(request: Request | undefined, publicUrl: string | null): string[] {
  const origin = request?.headers.get("origin");
  return request && origin && isFromOwnPage(request.headers, publicUrl) ? [origin] : [];
}

const Opening = Type.Object({
  personId: Type.String(),
  /** How they were identified, as the audit log names it. */
  way: Type.String(),
});
type Opening = Static<typeof Opening>;

/** Without a path it has no address: only this process can call it. */
const openSession = createAuthEndpoint({ method: "POST", body: standard(Opening) }, async (ctx) => {
  const { internalAdapter } = ctx.context;
  const user = await internalAdapter.findUserById(ctx.body.personId);
  const session = user && (await internalAdapter.createSession(user.id));
  if (!session) throw ctx.error("FORBIDDEN");
  await setSessionCookie(ctx, { session, user });
  return ctx.json({ id: session.id });
});
