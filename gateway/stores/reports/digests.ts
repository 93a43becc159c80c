import { and, desc, eq, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { digests } from "#drizzle/schema/feedback.ts";
import { sessionCalls } from "#drizzle/session-cost.ts";
import type { Digest, NotJoined } from "#shared/digest.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { RevertedCost, Week } from "../../reports/digest.ts";
import { WEEK_MS } from "../../reports/digest.ts";
import { type Revert, revertedBy, revertsQuery } from "../../reports/reverts.ts";
import { asking } from "../failure.ts";

export type DigestRow = typeof digests.$inferSelect;
export type NewDigest = Pick<DigestRow, "dueOn" | "channel" | "dueAt" | "state" | "content">;

/** The latest digests, the last due first. */
export const latestDigests = ({ db }: Pick<Database, "db">, limit: number): Promise<DigestRow[]> =>
  asking(() =>
    db
      .select()
      .from(digests)
      .where(eq(digests.orgId, DEFAULT_ORG))
      .orderBy(desc(digests.dueAt), digests.channel)
      .limit(limit),
  );

/** Keeps digests that are due; one that is kept already stays as it is. What is still waiting from before is given up. */
export const keepDigests = ({ db }: Database, rows: readonly NewDigest[]): Promise<void> =>
  asking(() =>
    db.transaction(async (tx) => {
      for (const row of rows) {
        await tx
          .update(digests)
          .set({ state: "given_up" })
          .where(
            and(
              eq(digests.orgId, DEFAULT_ORG),
              eq(digests.channel, row.channel),
              eq(digests.state, "waiting"),
              sql`${digests.dueAt} < ${row.dueAt}::timestamptz`,
            ),
          );
        await tx
          .insert(digests)
          .values({ ...row, deliveryId: Bun.randomUUIDv7() })
          .onConflictDoNothing();
      }
    }),
  );

const isDigest = ({ dueOn, channel }: Pick<DigestRow, "dueOn" | "channel">) =>
  and(eq(digests.orgId, DEFAULT_ORG), eq(digests.dueOn, dueOn), eq(digests.channel, channel));

/** Whether it is in the hand that the row was read in: `busyUntil` tells one hold from every other. */
const inHand = ({ busyUntil }: DigestRow) => sql`${digests.busyUntil} = ${busyUntil}::timestamptz`;

/** Takes a digest that waits for the webhook in hand until `busyUntil`; null where there is none, or another has it. */
export const claimWebhookDigest = (
  { db }: Database,
  now: Date,
  busyUntil: Date,
): Promise<(DigestRow & { content: Digest }) | null> =>
  asking(async () => {
    const at = now.toISOString();
    const [row] = await db
      .update(digests)
      .set({ busyUntil: busyUntil.toISOString() })
      .where(
        and(
          eq(digests.orgId, DEFAULT_ORG),
          eq(digests.channel, "webhook"),
          eq(digests.state, "waiting"),
          sql`coalesce(${digests.busyUntil}, '-infinity') <= ${at}::timestamptz`,
          sql`coalesce(${digests.nextAttemptAt}, '-infinity') <= ${at}::timestamptz`,
        ),
      )
      .returning();
    return row?.content ? { ...row, content: row.content } : null;
  });

export const markDigestSent = ({ db }: Database, digest: DigestRow, now: Date): Promise<unknown> =>
  asking(() =>
    db
      .update(digests)
      .set({ state: "sent", sentAt: now.toISOString(), busyUntil: null, failure: null, nextAttemptAt: null })
      .where(and(isDigest(digest), inHand(digest))),
  );

export const markDigestFailed = (
  { db }: Database,
  digest: DigestRow,
  { failure, nextAttemptAt }: { failure: string; nextAttemptAt: string },
): Promise<unknown> =>
  asking(() =>
    db
      .update(digests)
      .set({ attempts: digest.attempts + 1, failure, nextAttemptAt, busyUntil: null })
      .where(and(isDigest(digest), inHand(digest))),
  );

/**
 * What the sessions of reverted pull requests cost that were merged in the week or in the one before, as reports count
 * costs: a session once per repository and once in all, without the subscription lane; null where none is known.
 */
export const revertedCosts = (database: Database, { fromMs, toMs }: Week): Promise<RevertedCost[]> =>
  asking(async () => {
    const { text, params } = revertsQuery(DEFAULT_ORG);
    const reverts = await database.sql.unsafe<Revert[]>(text, [...params] as string[]);
    const [from, before, to] = [fromMs, fromMs - WEEK_MS, toMs].map((ms) => new Date(ms).toISOString());
    const rows = await database.db.execute<{
      repository: string | null;
      current: boolean;
      usd: string | null;
    }>(sql`
      with merges as (
        select p.merged_at >= ${from}::timestamptz as current, p.session,
          coalesce(r.full_name, p.repository_id::text) as repository
        from pull_requests p
        left join repositories r on r.org_id = p.org_id and r.id = p.repository_id
        where p.org_id = ${DEFAULT_ORG} and p.merged_at >= ${before}::timestamptz
          and p.merged_at < ${to}::timestamptz and p.session is not null
          and p.link in ('joined', 'unknown_session')
          and p.repository_id || '#' || p.number in (
            select jsonb_array_elements_text(${JSON.stringify(revertedBy(reverts))}::jsonb))
      ), costs as (
        select c.session, sum(c.cost_usd) filter (where c.billed) as usd
        from ${sessionCalls} c
        where c.session in (select session from merges)
        group by c.session
      ), runs as (
        select distinct repository, current, session from merges
        union
        select null, current, session from merges
      )
      select repository, current, sum(usd)::text as usd from runs join costs using (session)
      group by repository, current`);
    return rows.map(({ repository, current, usd }) => ({
      repository,
      current,
      costUsd: usd === null ? null : Number(usd),
    }));
  });

/** Merges of the week that are joined to no session, as reports count them, by the state of their link. */
export const notJoinedIn = ({ db }: Database, { fromMs, toMs }: Week): Promise<NotJoined> =>
  asking(async () => {
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    const rows = await db.execute<{ link: keyof NotJoined; count: number }>(sql`
      select p.link, count(*)::integer as count
      from pull_requests p
      where p.org_id = ${DEFAULT_ORG} and p.merged_at >= ${from}::timestamptz and p.merged_at < ${to}::timestamptz
        and p.link in ('no_stamp', 'conflict', 'unknown_session')
        and not (p.link = 'unknown_session' and exists (
          select from ${sessionCalls} c where c.session = p.session))
      group by p.link`);
    const none = { no_stamp: 0, conflict: 0, unknown_session: 0 };
    return { ...none, ...Object.fromEntries(rows.map(({ link, count }) => [link, count])) };
  });
