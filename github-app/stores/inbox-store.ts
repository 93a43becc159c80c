import { and, asc, eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Database } from "#drizzle/database.ts";
import { webhookInbox } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import type { ReducedDelivery } from "../facts/reduce.ts";
import { inBatches } from "../inbox/in-batches.ts";

/** A transaction of the `db` client. */
export type Transaction = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0];

export type Delivery = { deliveryId: string; receivedAt: Date; reduced: ReducedDelivery };

/** `passed`: a repetition, or pull-request stamping is switched off; nothing was written. */
export type StoreOutcome = "stored" | "passed";

/** Deliveries that one statement stores at most. */
const STORED_AT_ONCE = 500;

/** Stores deliveries; those that come while a statement is under way share the next one. */
export const createStore = (database: Database): ((delivery: Delivery) => Promise<StoreOutcome>) =>
  inBatches((deliveries) => storeDeliveries(database, deliveries), STORED_AT_ONCE);

/**
 * Writes deliveries to the inbox, once per delivery id, if `pull_request_stamping` is on at this moment. One statement,
 * so that the answers to GitHub wait for one round trip only.
 */
async function storeDeliveries({ sql }: Database, deliveries: readonly Delivery[]): Promise<StoreOutcome[]> {
  const rows = deliveries.map(({ deliveryId, receivedAt, reduced }) => ({
    delivery_id: deliveryId,
    event: reduced.event,
    action: reduced.action,
    occurred_at: reduced.occurredAt,
    received_at: receivedAt.toISOString(),
    facts: reduced.facts,
  }));
  const written = await sql<{ delivery_id: string }[]>`
    insert into webhook_inbox (org_id, delivery_id, event, action, occurred_at, received_at, facts)
    select ${DEFAULT_ORG}, d.delivery_id, d.event, d.action, d.occurred_at, d.received_at, d.facts
    from jsonb_to_recordset(${sql.json(rows)}::jsonb) as d(delivery_id text, event text, action text,
      occurred_at timestamptz, received_at timestamptz, facts jsonb)
    where coalesce(
      (select value -> 'pull_request_stamping' from settings where org_id = ${DEFAULT_ORG}),
      to_jsonb(${DEFAULT_SETTINGS.pull_request_stamping}::boolean)
    ) = 'true'::jsonb
    on conflict do nothing
    returning delivery_id`;
  const stored = new Set(written.map((row) => row.delivery_id));
  // Of two of one id, the first is the one that was written.
  return deliveries.map(({ deliveryId }) => (stored.delete(deliveryId) ? "stored" : "passed"));
}

export type DueDelivery = Pick<
  typeof webhookInbox.$inferSelect,
  "deliveryId" | "event" | "facts" | "attempts"
>;

/** Deliveries to be applied at `now`, in the order of the payloads' own times, at most `limit`. */
export const dueDeliveries = ({ db }: Database, now: Date, limit: number): Promise<DueDelivery[]> =>
  db
    .select({
      deliveryId: webhookInbox.deliveryId,
      event: webhookInbox.event,
      facts: webhookInbox.facts,
      attempts: webhookInbox.attempts,
    })
    .from(webhookInbox)
    .where(
      and(
        eq(webhookInbox.orgId, DEFAULT_ORG),
        isNull(webhookInbox.processedAt),
        or(isNull(webhookInbox.nextAttemptAt), lte(webhookInbox.nextAttemptAt, now.toISOString())),
      ),
    )
    // By the index alone, of which only null `processed_at` is read; a backlog is not sorted for every batch.
    .orderBy(asc(webhookInbox.processedAt), asc(webhookInbox.occurredAt))
    .limit(limit);

const isDelivery = (deliveryId: string) =>
  and(eq(webhookInbox.orgId, DEFAULT_ORG), eq(webhookInbox.deliveryId, deliveryId));

/**
 * Takes deliveries for this transaction and marks them applied; the transaction's end makes that true or undoes it.
 * Answers those taken: the others were applied already, or another process has them in hand.
 */
export async function claimDeliveries(
  tx: Transaction,
  deliveryIds: readonly string[],
  now: Date,
): Promise<Set<string>> {
  const isOneOf = and(
    eq(webhookInbox.orgId, DEFAULT_ORG),
    inArray(webhookInbox.deliveryId, [...deliveryIds]),
    isNull(webhookInbox.processedAt),
  );
  const free = await tx
    .select({ id: webhookInbox.deliveryId })
    .from(webhookInbox)
    .where(isOneOf)
    .orderBy(asc(webhookInbox.deliveryId))
    .for("update", { skipLocked: true });
  if (free.length === 0) return new Set();
  const ids = free.map((row) => row.id);
  await tx
    .update(webhookInbox)
    .set({ processedAt: now.toISOString(), nextAttemptAt: null, failure: null })
    .where(and(eq(webhookInbox.orgId, DEFAULT_ORG), inArray(webhookInbox.deliveryId, ids)));
  return new Set(ids);
}

/** Notes a failed attempt by its class, and when the next one may be made. */
export async function markFailed(
  { db }: Database,
  deliveryId: string,
  { failure, nextAttemptAt }: { failure: string; nextAttemptAt: Date },
): Promise<void> {
  await db
    .update(webhookInbox)
    .set({
      failure,
      attempts: sql`${webhookInbox.attempts} + 1`,
      nextAttemptAt: nextAttemptAt.toISOString(),
    })
    .where(and(isDelivery(deliveryId), isNull(webhookInbox.processedAt)));
}

/** Removes deliveries that were applied before `before`. */
export async function purgeApplied({ sql }: Database, before: Date): Promise<number> {
  const removed = await sql`
    delete from webhook_inbox where org_id = ${DEFAULT_ORG} and processed_at < ${before.toISOString()}::timestamptz`;
  return removed.count;
}
