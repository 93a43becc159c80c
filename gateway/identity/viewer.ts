import { ADMIN_KEY_ACTOR, findToken, isTokenForm } from "#drizzle/admin-token.ts";
import type { Database } from "#drizzle/database.ts";
import { lesserRole, type Role } from "#shared/admin/people.ts";
import type { TokenScope } from "#shared/admin/tokens.ts";
import type { Clock } from "#shared/clock.ts";
import { GatewayError } from "../errors.ts";
import { type PresentedCredentials, readCredentials } from "../http/credentials.ts";
import { CREDENTIALS, type Refusals } from "../plugins/refusals.ts";
import { newSecret } from "../stores/client-secret.ts";
import { findSession, prolongSession, rotateSession } from "../stores/identity/sessions.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { isFromOwnPage } from "./own-origin.ts";
import { type CookieFacts, sessionToken, setCookie } from "./session-cookie.ts";
import { isWorthProlonging, sessionEnd } from "./session-policy.ts";

/** Who asks, and what they may see and change. */
export type Viewer = {
  /** As the audit log names them: a person's e-mail, a token's name, or `admin key`. */
  actor: string;
  role: Role;
  /** What a token opens whose `role` counts for nothing else; null: the role decides. */
  scopes: readonly TokenScope[] | null;
  /** The team of a manager who sees only it and those below it; null: no limit by team. */
  team: string | null;
  /** The only repository whose pull requests a token reads; null: any. */
  repository: string | null;
  /** Whether e-mails are masked: a token reads none outside its team. */
  masksEmails: boolean;
  /** Whom tokens end with that are made now; null: it is not known. */
  maker: string | null;
  /** Null: the admin key or a token, which has no person. */
  person: { id: string; email: string; name: string; githubLogin: string | null } | null;
  /** Null: not signed in by a browser. */
  sessionId: string | null;
  /** A `set-cookie` that the answer must carry: the session has another token now. */
  cookie: string | null;
};

export type ViewerDeps = {
  database: Database;
  isAdminKey(secret: string): boolean;
  refusals: Refusals;
  cookie: CookieFacts;
  cookieSecret: string;
  publicUrl: string | null;
  clock: Clock;
};

/** Name of the admin key's bearer: the key itself identifies no one. */
const ADMIN_KEY: Viewer = {
  actor: ADMIN_KEY_ACTOR,
  role: "administrator",
  scopes: null,
  team: null,
  repository: null,
  masksEmails: false,
  maker: ADMIN_KEY_ACTOR,
  person: null,
  sessionId: null,
  cookie: null,
};

/** Whether a credential is the admin key, or has the form of an admin token. */
export const isOfAdministration = ({ isAdminKey }: Pick<ViewerDeps, "isAdminKey">, secret: string): boolean =>
  isAdminKey(secret) || isTokenForm(secret);

/**
 * Who makes a request. A key or token decides alone; without one, the session cookie does, and a request that changes
 * something must then come from a page of this gateway.
 * @throws GatewayError unauthenticated; too_many_refusals; foreign_origin.
 */
export async function identify(deps: ViewerDeps, request: Request): Promise<Viewer> {
  const credentials = readCredentials(request.headers);
  if (hasKey(request.headers)) return await viewerByKey(deps, credentials, request);
  const viewer = await viewerByCookie(deps, request);
  if (!viewer) throw new GatewayError("unauthenticated", CREDENTIALS.admin_key);
  return viewer;
}

/** A token with one of the scopes counts as a manager's there. @throws GatewayError role_not_allowed for one with others. */
export function withScope(viewer: Viewer, scopes: readonly TokenScope[]): Viewer {
  if (viewer.scopes === null) return viewer;
  if (!viewer.scopes.some((it) => scopes.includes(it))) throw new GatewayError("role_not_allowed");
  return { ...viewer, role: "manager" };
}

/** Whether a request carries a credential other than a cookie, in whatever form; an empty header counts as absent. */
export const hasKey = (headers: Headers): boolean =>
  ["authorization", "x-gateway-key", "x-api-key", "x-goog-api-key", "api-key"].some((name) =>
    headers.get(name)?.trim(),
  );

async function viewerByKey(
  { database, isAdminKey, refusals, clock }: ViewerDeps,
  { bearer }: PresentedCredentials,
  request: Request,
): Promise<Viewer> {
  if (bearer !== null && isAdminKey(bearer)) return ADMIN_KEY;
  const token =
    bearer === null ? null : await withStoreErrors(() => findToken(database.db, bearer, clock.now()));
  if (!token) throw refusals.refused("admin_key", request);
  const { name: actor, role, scopes, team, repository, maker } = token;
  const masksEmails = role !== "administrator" && team === null;
  return { ...ADMIN_KEY, actor, role: role ?? "member", scopes, team, repository, masksEmails, maker };
}

const changes = (method: string): boolean => method !== "GET" && method !== "HEAD";

/**
 * The signed-in person; null without a running session. A person whose role has changed gets another token; requests
 * that still carry the one before have the rights that both roles have.
 * @throws GatewayError foreign_origin
 */
export async function viewerByCookie(deps: ViewerDeps, request: Request): Promise<Viewer | null> {
  const token = sessionToken(request.headers, deps.cookie);
  if (token === null) return null;
  const now = deps.clock.now();
  const digest = new Bun.CryptoHasher("sha256").update(token).digest("hex");
  const found = await withStoreErrors(() => findSession(deps.database, digest, now));
  if (!found) return null;
  if (changes(request.method) && !isFromOwnPage(request.headers, deps.publicUrl)) {
    throw new GatewayError("foreign_origin");
  }
  const { person, ...session } = found;
  const { id, email, name, team, githubLogin } = person;
  const viewer = {
    ...ADMIN_KEY,
    actor: email,
    maker: email,
    team,
    person: { id, email, name, githubLogin },
    sessionId: session.id,
  };
  if (session.token !== digest) {
    return { ...viewer, role: lesserRole(session.previousRole ?? "member", person.role) };
  }
  const expiresAt = sessionEnd({ ...session, now, role: person.role });
  if (session.role !== person.role) {
    const to = newSecret("tgs_");
    const rotation = { id: session.id, from: token, to, role: person.role, expiresAt, now };
    const rotated = await withStoreErrors(() => rotateSession(deps.database.db, rotation));
    if (!rotated) return { ...viewer, role: lesserRole(session.role, person.role) };
    return { ...viewer, role: person.role, cookie: setCookie(to, deps.cookieSecret, deps.cookie) };
  }
  if (isWorthProlonging(session.expiresAt, expiresAt)) {
    await withStoreErrors(() => prolongSession(deps.database.db, session.id, expiresAt));
  }
  return { ...viewer, role: person.role };
}
