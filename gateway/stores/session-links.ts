import { and, eq, or, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { requests } from "#drizzle/schema/records.ts";
import { sessionLinks } from "#drizzle/schema/sessions.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { ClientKey } from "../directory.ts";
import { withStoreErrors } from "./store-errors.ts";

/** Who declares, by which client, and when. */
type Declarer = { key: Pick<ClientKey, "id" | "owner">; client: string; at: Date };
type LinkDeclaration = { session: string; of: string; task: string | null };

/** The outcome of a declaration. `foreign`: another key or person made the session's calls. */
type Linked = { counts: boolean; of: string } | "foreign";

/**
 * Keeps a declaration that a session worked on a task; one that is kept already stays. The first one of a session
 * counts, and later ones are evidence. Where the task's session is itself linked, its task is meant.
 * @throws GatewayError store_unavailable
 */
export const declareLink = (
  { db }: Pick<Database, "db">,
  { session, of, task }: LinkDeclaration,
  { key, client, at }: Declarer,
): Promise<Linked> =>
  withStoreErrors(() =>
    db.transaction(async (tx): Promise<Linked> => {
      if (await isForeign(tx, session, key)) return "foreign";
      // Declarations are rare: in turn, so that two of them make no circle.
      await tx.execute(sql`select pg_advisory_xact_lock(hashtext('session_links'))`);
      const root = (await linkOf(tx, of)) ?? of;
      const before = await linkOf(tx, session);
      if (root === session) return { counts: false, of: root };
      const counts = before === null && !(await hasLinks(tx, session));
      await tx
        .insert(sessionLinks)
        .values({
          ...{ orgId: DEFAULT_ORG, session, ofSession: root, task, counts },
          ...{ keyId: key.id, client, declaredAt: at.toISOString() },
        })
        .onConflictDoNothing();
      return { counts: counts || before === root, of: root };
    }),
  );

/** Whether calls of a session are known and none is of this key or of its owner. */
async function isForeign(tx: Transaction, session: string, key: Declarer["key"]): Promise<boolean> {
  const of = and(eq(requests.orgId, DEFAULT_ORG), eq(requests.session, session));
  const own = or(eq(requests.keyId, key.id), key.owner === null ? undefined : eq(requests.owner, key.owner));
  const [known] = await tx.select({ id: requests.id }).from(requests).where(of).limit(1);
  if (!known) return false;
  const [mine] = await tx.select({ id: requests.id }).from(requests).where(and(of, own)).limit(1);
  return mine === undefined;
}

/** The task that a session counts for, or null. */
async function linkOf(tx: Transaction, session: string): Promise<string | null> {
  const { orgId, counts, ofSession } = sessionLinks;
  const [row] = await tx
    .select({ of: ofSession })
    .from(sessionLinks)
    .where(and(eq(orgId, DEFAULT_ORG), eq(sessionLinks.session, session), counts));
  return row?.of ?? null;
}

/** Whether sessions are linked to this one, which is then a task's itself. */
async function hasLinks(tx: Transaction, session: string): Promise<boolean> {
  const { orgId, ofSession, counts } = sessionLinks;
  const rows = await tx
    .select({ session: sessionLinks.session })
    .from(sessionLinks)
    .where(and(eq(orgId, DEFAULT_ORG), eq(ofSession, session), counts))
    .limit(1);
  return rows.length > 0;
}
