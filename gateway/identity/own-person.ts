import { Elysia } from "elysia";
import { type Role, storedEmail } from "#shared/admin/people.ts";
import { GatewayError } from "../errors.ts";
import { readCredentials } from "../http/credentials.ts";
import { requestIdOf } from "../http/listener.ts";
import { authenticate, type CallerCheck } from "../plugins/client-key.ts";
import { CREDENTIALS } from "../plugins/refusals.ts";
import type { Origin } from "../stores/audit.ts";
import { findPersonByEmail } from "../stores/identity/people.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { hasKey, identify, isOfAdministration, type ViewerDeps, viewerByCookie } from "./viewer.ts";

/** The person whose own records a request is about. */
export type Own = {
  email: string;
  name: string;
  role: Role;
  team: string | null;
  githubLogin: string | null;
  /** Null: an owner of keys who has never signed in. */
  personId: string | null;
  /** Null: asked with a client key. */
  sessionId: string | null;
};

export type OwnDeps = ViewerDeps & { callers: CallerCheck };

/**
 * Routes marked `{ own: "read" }` take the session cookie or one of the person's own client keys, those marked
 * `{ own: "change" }` only the cookie: a leaked key makes no further keys. They get the person as `own`.
 */
export const ownPerson = (deps: OwnDeps) =>
  new Elysia({ name: "plugin.own-person" }).macro({
    own: (access: "read" | "change") => ({
      async resolve({ request, set }) {
        set.headers["x-request-id"] = requestIdOf(request);
        if (hasKey(request.headers)) {
          const own = await ownByKey(deps, request);
          if (access === "change") throw new GatewayError("role_not_allowed", "A client key can only read.");
          return { own, origin: originOf(deps, own, request) };
        }
        const viewer = await viewerByCookie(deps, request);
        if (!viewer?.person) throw new GatewayError("unauthenticated", CREDENTIALS.session);
        if (viewer.cookie) set.headers["set-cookie"] = viewer.cookie;
        const { id: personId, email, name, githubLogin } = viewer.person;
        const { role, team, sessionId } = viewer;
        const own: Own = { email, name, role, team, githubLogin, personId, sessionId };
        return { own, origin: originOf(deps, own, request) };
      },
    }),
  });

const originOf = ({ refusals, clock }: OwnDeps, { email: actor }: Own, request: Request): Origin => ({
  actor,
  address: refusals.addressOf(request),
  requestId: requestIdOf(request),
  at: clock.now(),
});

/** The owner of a client key, who may read what is theirs and nothing else: a key is no sign-in. */
async function ownByKey(deps: OwnDeps, request: Request): Promise<Own> {
  const { callers, database } = deps;
  const bearer = readCredentials(request.headers).bearer ?? "";
  if (isOfAdministration(deps, bearer)) {
    const { actor } = await identify(deps, request);
    throw new GatewayError("role_not_allowed", `The credential "${actor}" has no owner.`);
  }
  const { key } = await authenticate(callers, request);
  const { owner } = key;
  if (owner === null) throw new GatewayError("role_not_allowed", "This key has no owner.");
  if (key.service)
    throw new GatewayError(
      "role_not_allowed",
      "This key belongs to a program (`service`), so it does not open a person's own records.",
    );
  const person = await withStoreErrors(() => findPersonByEmail(database.db, owner));
  const email = person?.email ?? storedEmail(owner);
  return {
    email,
    name: person?.name ?? owner,
    role: person?.role ?? "member",
    team: person?.team ?? key.teams?.[0] ?? null,
    githubLogin: person?.githubLogin ?? null,
    personId: person?.id ?? null,
    sessionId: null,
  };
}
