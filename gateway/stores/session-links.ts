import { eq, or, type SQL, sql } from "drizzle-orm";
import type { Db, Runner, Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { requests } from "#drizzle/schema/records.ts";
import { sessionLinks } from "#drizzle/schema/sessions.ts";
import {
  isCounted as isLinkCounted,
  linkFindings,
  makerOf,
  ownerOf,
  sessionsOfTasks,
} from "#drizzle/session-links.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { SessionLinkBody, SessionLinkView, UnlinkBody } from "#shared/session-links.ts";
import type { ClientKey } from "../directory.ts";
import { withStoreErrors } from "./store-errors.ts";

export type Declarer = { key: Pick<ClientKey, "id" | "owner">; client: string; at: Date };

/** The outcome of a declaration. `foreign`: another key or person made the session's calls. */
type Linked = { counts: boolean; of: string } | "foreign";

const ORG = `'${DEFAULT_ORG}'`;

/** As `makerOf` in drizzle/session-links.ts. */
export const declarerOf = ({ id, owner }: Declarer["key"]): string => (owner ?? id).toLowerCase();

/**
 * Keeps a declaration that a session worked on a task; one that is kept already stays. The first one of a session and a
 * declarer counts that has a right to its task, and later ones are evidence. Where the task's session is itself linked, its
 * task is meant. A task declared for itself only says in which repository and branch it is.
 * @throws GatewayError store_unavailable
 */
export const declareLink = (
  { db }: Db,
  { session, of, task, repository, branch, clone }: SessionLinkBody,
  { key, client, at }: Declarer,
): Promise<Linked> =>
  withStoreErrors(() =>
    db.transaction(async (tx): Promise<Linked> => {
      if (await isForeign(tx, session, key)) return "foreign";
      // Declarations are rare: in turn, so that two of them make no circle.
      await tx.execute(sql`select pg_advisory_xact_lock(hashtext('session_links'))`);
      const declarer = declarerOf(key);
      const root = await rootOf(tx, of, { declarer, until: session });
      const before = await linkOf(tx, session, declarer);
      const isTask = root === session;
      if (before !== null && !isTask && !(await isCounted(tx, { session, of: before, declarer }))) {
        const isBefore = isLink({ session, of: before, declarer });
        await tx.update(sessionLinks).set({ counts: false }).where(isBefore);
      }
      await tx
        .insert(sessionLinks)
        .values({
          orgId: DEFAULT_ORG,
          session,
          ofSession: root,
          declarer,
          task: task ?? null,
          repository: repository?.toLowerCase() ?? null,
          branch: branch ?? null,
          clone: clone ?? null,
          counts: !isTask && (await linkOf(tx, session, declarer)) === null,
          keyId: key.id,
          client,
          declaredAt: at.toISOString(),
        })
        .onConflictDoUpdate({
          target: [sessionLinks.orgId, sessionLinks.session, sessionLinks.declarer, sessionLinks.ofSession],
          // An agent's hook knows more than a first declaration by hand.
          set: {
            repository: sql`coalesce(excluded.repository, ${sessionLinks.repository})`,
            branch: sql`coalesce(excluded.branch, ${sessionLinks.branch})`,
            clone: sql`coalesce(excluded.clone, ${sessionLinks.clone})`,
          },
        });
      return { counts: await isCounted(tx, { session, of: root, declarer }), of: root };
    }),
  );

type Link = { session: string; of: string; declarer: string };

const isLink = ({ session, of: ofSession, declarer }: Link) =>
  ours(sessionLinks, { session, ofSession, declarer });

/** Whether a link counts now, as reports judge it. */
async function isCounted(tx: Transaction, { session, of, declarer }: Link): Promise<boolean> {
  const rows = await tx.execute(sql`
    with task as (select ${of}::text as session)
    select from (${sql.raw(sessionsOfTasks("task", ORG))}) n
    where n.session = ${session} and n.declarer = ${declarer}`);
  return rows.length > 0;
}

/** Whether calls of a session are known and none is of this key or of its owner. */
async function isForeign(tx: Transaction, session: string, key: Declarer["key"]): Promise<boolean> {
  const call = (own?: SQL) =>
    first(
      tx
        .select({ id: requests.id })
        .from(requests)
        .where(ours(requests, { session }, own))
        .limit(1),
    );
  const isOwner = key.owner === null ? undefined : eq(requests.owner, key.owner);
  return (await call()) !== null && (await call(or(eq(requests.keyId, key.id), isOwner))) === null;
}

/** The task that a session counts for by its declarer's word, or null. */
async function linkOf(tx: Transaction, session: string, declarer: string): Promise<string | null> {
  const isIt = ours(sessionLinks, { session, declarer }, sessionLinks.counts);
  const [row] = await tx.select({ of: sessionLinks.ofSession }).from(sessionLinks).where(isIt);
  return row?.of ?? null;
}

/** The task that a session counts for by its declarer's word, and so on, to the one that is linked to none. */
async function rootOf(
  tx: Transaction,
  session: string,
  { declarer, until }: { declarer: string; until: string },
): Promise<string> {
  const of = session === until ? null : await linkOf(tx, session, declarer);
  if (of === null || !(await isCounted(tx, { session, of, declarer }))) return session;
  return await rootOf(tx, of, { declarer, until });
}

/**
 * Removes the links of a session to a task: one's own, and, for the owner of either session, everyone's. Others' stay as
 * evidence and cannot be declared again.
 * @returns how many were removed.
 * @throws GatewayError store_unavailable
 */
export const removeLink = (
  { db }: Db,
  { session, of }: UnlinkBody,
  { key, at }: Pick<Declarer, "key" | "at">,
): Promise<number> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      const declarer = declarerOf(key);
      const own = await tx
        .delete(sessionLinks)
        .where(isLink({ session, of, declarer }))
        .returning({ of: sessionLinks.ofSession });
      const owner = (column: string) => sql.raw(ownerOf(column, ORG));
      const isOwner = sql`${declarer} in (${owner("session_links.session")}, ${owner("session_links.of_session")})`;
      const others = await tx
        .update(sessionLinks)
        .set({ counts: false, removedAt: at.toISOString() })
        .where(ours(sessionLinks, { session, ofSession: of, removedAt: null }, isOwner))
        .returning({ of: sessionLinks.ofSession });
      return own.length + others.length;
    }),
  );

type LinkRow = Omit<SessionLinkView, "declared_at" | "removed_at"> & {
  declared_at: Date;
  removed_at: Date | null;
};

/**
 * The latest links that a key's owner declared, and those from and to that owner's sessions, with their evidence; only of
 * one session or task where it is named.
 * @throws GatewayError store_unavailable
 */
export const listLinks = (
  { db }: Db,
  key: Declarer["key"],
  { session, of }: { session: string | null; of: string | null },
): Promise<{ data: SessionLinkView[]; has_more: boolean }> =>
  withStoreErrors(async () => {
    const me = declarerOf(key);
    const owner = (column: string) => sql.raw(ownerOf(column, ORG));
    // Whoever owns one of the sessions made a call in it: this narrows the search.
    const takesPart = sql`exists (select from requests c where c.org_id = l.org_id
      and c.session in (l.session, l.of_session) and ${sql.raw(makerOf("c"))} = ${me})`;
    const rows = await db.execute<LinkRow>(sql`
      select l.session, l.of_session as "of", l.declarer, ${sql.raw(isLinkCounted(ORG))} as counts, l.task, l.repository,
        l.branch, l.clone, l.client, l.declared_at, l.removed_at
      from session_links l
      where l.org_id = ${DEFAULT_ORG} and l.session = coalesce(${session}::text, l.session)
        and l.of_session = coalesce(${of}::text, l.of_session)
        and (l.declarer = ${me} or ${takesPart} and ${me} in (${owner("l.session")}, ${owner("l.of_session")}))
      order by l.declared_at desc, l.session limit ${LISTED_MAX + 1}`);
    const data = rows.slice(0, LISTED_MAX).map((row) => ({
      ...row,
      declared_at: new Date(row.declared_at).toISOString(),
      removed_at: row.removed_at && new Date(row.removed_at).toISOString(),
    }));
    return { data, has_more: rows.length > LISTED_MAX };
  });

const LISTED_MAX = 500;

/** Evidence of the links to a task, by session and declarer. */
export const linksTo = (reader: Pick<Transaction, "select">, task: string) =>
  reader
    .select()
    .from(sessionLinks)
    .where(ours(sessionLinks, { ofSession: task }))
    .limit(LISTED_MAX);

export type LinkFinding = { session: string; declarer: string; finding: "foreign_task" | "calls_of_others" };

/** What looks unusual about the links to a task's session. */
export const findLinkFindings = (reader: Runner, task: string): Promise<LinkFinding[]> =>
  reader.execute<LinkFinding>(
    sql`
      with task as (select ${task}::text as session)
      select * from (${sql.raw(linkFindings("(select task.session from task)", ORG))}) f order by 1, 2, 3 limit 20`,
  );
