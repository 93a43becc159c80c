import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { desc, sql } from "drizzle-orm";
import type { Database, Db, Transaction } from "#drizzle/database.ts";
import { type Lease, type LeaseDeps, takeLease } from "#drizzle/leases/lease.ts";
import { first, ours } from "#drizzle/ours.ts";
import { digests, digestWebhooks } from "#drizzle/schema/feedback.ts";
import { pullRequestCosts, pullRequestName, sessionCalls } from "#drizzle/session-cost.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import type { NotJoined } from "#shared/digest.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { closed, fits } from "#shared/schema.ts";
import { type Revert, revertedBy, revertsQuery } from "../reports/reverts.ts";
import type { Reader } from "../stores/change.ts";
import type { SealContext, Sealer } from "../stores/seal.ts";
import { readSettings } from "../stores/settings.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { type RevertedCost, WEEK_MS, type Week } from "./digest-of.ts";

export type DigestRow = typeof digests.$inferSelect;
export type NewDigest = Pick<DigestRow, "dueOn" | "channel" | "dueAt" | "state" | "content">;

/** The latest digests, last due first. */
export const latestDigests = ({ db }: Db, limit: number): Promise<DigestRow[]> =>
  withStoreErrors(() =>
    db.select().from(digests).where(ours(digests)).orderBy(desc(digests.dueAt), digests.channel).limit(limit),
  );

/** Stores due digests, unless they exist, and gives up those that still wait from before. */
export const storeDigests = ({ db }: Database, rows: readonly NewDigest[]): Promise<void> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      for (const row of rows) {
        const isEarlier = sql`${digests.dueAt} < ${row.dueAt}::timestamptz`;
        const waits = ours(digests, { channel: row.channel, state: "waiting" }, isEarlier);
        await tx.update(digests).set({ state: "given_up" }).where(waits);
        await tx
          .insert(digests)
          .values({ ...row, deliveryId: Bun.randomUUIDv7() })
          .onConflictDoNothing();
      }
    }),
  );

/** Longer than a post takes at most, so that no other gateway posts the digest in the meantime. */
const LEASE_MS = 120_000;

/** Leases the digest that waits for the webhook; null if there is none, it is not due, or another gateway has it. */
export const takeWebhookDigest = (deps: LeaseDeps): Promise<Lease<DigestRow> | null> =>
  takeLease(deps, digests, {
    where: ours(digests, { channel: "webhook", state: "waiting" }),
    leaseMs: LEASE_MS,
  });

/**
 * Costs of the sessions of reverted pull requests that were merged in the week or in the one before, as in reports: a
 * session once per repository and once in total, without the subscription channel; null: unknown.
 */
export const revertedCosts = (database: Database, { fromMs, toMs }: Week): Promise<RevertedCost[]> =>
  withStoreErrors(async () => {
    const { text, params } = revertsQuery(DEFAULT_ORG);
    const reverts = await database.sql.unsafe<Revert[]>(text, [...params]);
    const [from, before, to] = [fromMs, fromMs - WEEK_MS, toMs].map((ms) => new Date(ms).toISOString());
    const rows = await database.db.execute<
      { repository: string; current: boolean } & Record<"repository_id" | "number" | "session", string>
    >(sql`
      select coalesce(r.full_name, p.repository_id::text) as repository, p.merged_at >= ${from}::timestamptz as current,
        p.repository_id, p.number, p.session
      from pull_requests p
      left join repositories r on r.org_id = p.org_id and r.id = p.repository_id
      where p.org_id = ${DEFAULT_ORG} and p.merged_at >= ${before}::timestamptz
        and p.merged_at < ${to}::timestamptz and p.session is not null
        and p.link in ('joined', 'unknown_session')
        and p.repository_id || '#' || p.number in (
          select jsonb_array_elements_text(${JSON.stringify(revertedBy(reverts))}::jsonb))`);
    const merges = rows.map((row) => ({
      ...row,
      repositoryId: Number(row.repository_id),
      number: Number(row.number),
    }));
    const costs = await pullRequestCosts(database.db, merges);
    const counted = merges.flatMap(({ repository, current, ...merge }) => {
      const { costUsd = null, isSplit = false } = costs.get(pullRequestName(merge)) ?? {};
      const usd = costUsd === null ? null : parseDecimal(costUsd);
      const purse = isSplit ? pullRequestName(merge) : merge.session;
      return [repository, null].map((of) => ({
        of,
        current,
        usd,
        key: JSON.stringify([of, current, purse]),
      }));
    });
    const once = [...new Map(counted.map((it) => [it.key, it])).values()];
    return [...Map.groupBy(once, ({ of, current }) => JSON.stringify([of, current])).values()].map(
      (parts) => {
        const known = parts.flatMap(({ usd }) => usd ?? []);
        const [{ of: repository, current } = { of: null, current: true }] = parts;
        const costUsd = known.length === 0 ? null : Number(formatDecimal(known.reduce(plus, ZERO)));
        return { repository, current, costUsd };
      },
    );
  });

/** The week's merges without a joined session, by state. Bots' merges without one are left out where settings say so. */
export const notJoinedIn = ({ db }: Database, { fromMs, toMs }: Week): Promise<NotJoined> =>
  withStoreErrors(async () => {
    const { not_stamped_bots: bots } = await readSettings(db);
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    const rows = await db.execute<{ link: keyof NotJoined; count: number }>(sql`
      select p.link, count(*)::integer as count
      from pull_requests p
      where p.org_id = ${DEFAULT_ORG} and p.merged_at >= ${from}::timestamptz and p.merged_at < ${to}::timestamptz
        and p.link in ('no_stamp', 'conflict', 'unknown_session', 'claimed')
        and not (p.link = 'no_stamp' and p.author_is_bot and not ${bots})
        and not (p.link = 'unknown_session' and exists (
          select from ${sessionCalls} c where c.session = p.session))
      group by p.link`);
    const none = { no_stamp: 0, conflict: 0, unknown_session: 0, claimed: 0 };
    return { ...none, ...Object.fromEntries(rows.map(({ link, count }) => [link, count])) };
  });

const Sealed = closed({ url: Type.String(), secret: Type.String() });
const BELONGING: SealContext = { orgId: DEFAULT_ORG, purpose: "digest_webhook" };

export type DigestWebhookRow = Pick<
  typeof digestWebhooks.$inferSelect,
  "host" | "allowPrivateNetwork" | "createdAt"
>;
/** Where digests are posted, and the secret that signs them. Do not store or log it. */
export type DigestWebhook = Static<typeof Sealed> & { allowPrivateNetwork: boolean };

const isOwn = ours(digestWebhooks);

export const findDigestWebhook = (reader: Reader): Promise<DigestWebhookRow | null> =>
  withStoreErrors(() => first(reader.select().from(digestWebhooks).where(isOwn)));

/** The address and its secret; null: none is set, or it was sealed with another master key. */
export const openDigestWebhook = ({ db }: Db, sealer: Sealer): Promise<DigestWebhook | null> =>
  withStoreErrors(async () => {
    const [row] = await db.select().from(digestWebhooks).where(isOwn);
    const text = row ? sealer.open(row.sealed, BELONGING)?.reveal() : undefined;
    const value: unknown = text === undefined ? null : JSON.parse(text);
    return row && fits(Sealed, value) ? { ...value, allowPrivateNetwork: row.allowPrivateNetwork } : null;
  });

/** Sets the address, with a new secret of 256 bits, which is returned only this once. */
export async function putDigestWebhook(
  tx: Transaction,
  sealer: Sealer,
  { url, allowPrivateNetwork, now }: { url: string; allowPrivateNetwork: boolean; now: Date },
): Promise<{ row: DigestWebhookRow; secret: string }> {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const row = {
    sealed: sealer.seal(JSON.stringify({ url, secret }), BELONGING),
    host: new URL(url).host,
    allowPrivateNetwork,
    createdAt: now.toISOString(),
  };
  await tx.insert(digestWebhooks).values(row).onConflictDoUpdate({ target: digestWebhooks.orgId, set: row });
  return { row, secret };
}

/** The address that was set; null: none was. */
export const removeDigestWebhook = (tx: Transaction): Promise<DigestWebhookRow | null> =>
  first(tx.delete(digestWebhooks).where(isOwn).returning());
