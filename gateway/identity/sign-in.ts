import type { Transaction } from "#drizzle/database.ts";
import { storedEmail } from "#shared/admin/people.ts";
import type { RedeemBody } from "#shared/admin/sign-in-links.ts";
import { requestIdOf } from "../http/listener.ts";
import { auditIn, type Origin } from "../stores/audit.ts";
import { audited, ownChange } from "../stores/change.ts";
import {
  findPersonByEmail,
  hasAdministrator,
  insertPerson,
  type PersonRow,
  updatePerson,
} from "../stores/identity/people.ts";
import { clearSessions } from "../stores/identity/sessions.ts";
import { useSignInLink } from "../stores/identity/sign-in-links.ts";
import type { Auth } from "./auth.ts";
import { personView } from "./person-view.ts";
import { sessionToken } from "./session-cookie.ts";
import type { ViewerDeps } from "./viewer.ts";

export type SignInDeps = Pick<ViewerDeps, "database" | "refusals" | "cookie" | "clock"> & { auth: Auth };

/** The first administrator, if the sign-in page names no one. */
const FIRST_EMAIL = "admin@localhost";

export type SignedInPerson = { person: PersonRow; headers: Headers };

/** Signs in by a one-time link, which is then used up. @throws GatewayError unauthenticated; too_many_refusals. */
export async function signInByLink(
  deps: SignInDeps,
  request: Request,
  body: RedeemBody,
): Promise<SignedInPerson> {
  const { database, auth, refusals, cookie, clock } = deps;
  const now = clock.now();
  const origin = { address: refusals.addressOf(request), requestId: requestIdOf(request), at: now };
  const person = await ownChange(database, async (tx) => {
    const link = await useSignInLink(tx, body.token, now);
    return link ? await personOf(tx, { named: link.email, body }, { ...origin, actor: "" }) : null;
  });
  if (!person) {
    const refusal = refusals.refused("sign_in_link", request);
    // Once an address is slowed down, its guesses are counted and no longer listed one by one.
    if (refusal.type === "unauthenticated") {
      const failed = { action: "sign_in.failed", subject: "sign-in link" } as const;
      await audited(database, { ...origin, actor: "unknown" }, (_, audit) => audit(failed));
    }
    throw refusal;
  }
  await ownChange(database, (tx) => clearSessions(tx, sessionToken(request.headers, cookie), now));
  return { person, headers: await auth.signIn({ personId: person.id, way: "one_time_link" }, request) };
}

type Redeemed = {
  /** Whom the link names; null: whoever becomes the first administrator. */
  named: string | null;
  body: RedeemBody;
};

/** The person whom a link signs in, created if they are new; null: the link is no longer valid. */
async function personOf(tx: Transaction, { named, body }: Redeemed, origin: Origin) {
  if (named === null && (await hasAdministrator(tx))) return null;
  const email = storedEmail(named ?? body.email ?? FIRST_EMAIL);
  const audit = auditIn(tx, { ...origin, actor: email });
  const known = await findPersonByEmail(tx, email);
  if (known?.disabled) return null;
  if (known && named !== null) return known;
  const role = named === null ? "administrator" : "member";
  if (known) {
    const promoted = { ...known, role, unmapped: {}, updatedAt: origin.at } as const;
    await updatePerson(tx, promoted);
    await audit({
      action: "person.changed",
      subject: email,
      before: personView(known),
      after: personView(promoted),
    });
    return promoted;
  }
  const facts = {
    email,
    name: (named === null && body.name) || null,
    role,
    team: null,
    githubLogin: null,
  } as const;
  const made = await insertPerson(tx, facts, origin.at);
  await audit({ action: "person.created", subject: email, after: personView(made) });
  return made;
}
