import { asc, isNull, lte, or, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { backOffMs } from "#drizzle/leases/lease.ts";
import { ours } from "#drizzle/ours.ts";
import { webhookInbox } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { picked } from "#shared/keys-of.ts";
import type { ReducedDelivery } from "../facts/reduce.ts";
import { inBatches } from "./in-batches.ts";
import { isStamping, keepWaitingMerges } from "./waiting-merges.ts";

export type Delivery = { deliveryId: string; receivedAt: Date; reduced: ReducedDelivery };

/** `passed`: a repetition, or pull-request stamping is switched off; nothing was written. */
export type StoreOutcome = "stored" | "passed";

/** Deliveries stored by one statement. */
const BATCH_MAX = 500;

/** Stores deliveries; those that arrive while a statement is under way share the next one. */
export const createStore = (database: Database): ((delivery: Delivery) => Promise<StoreOutcome>) =>
  inBatches((deliveries) => storeDeliveries(database, deliveries), BATCH_MAX);

/**
 * Writes deliveries to the inbox, once per delivery id, if `pull_request_stamping` is on at this moment. One statement,
 * so that the answers to GitHub wait for a single round trip.
 */
async function storeDeliveries(database: Database, deliveries: readonly Delivery[]): Promise<StoreOutcome[]> {
  const { sql } = database;
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
    where ${isStamping(database)}
    on conflict do nothing
    returning delivery_id`;
  const stored = new Set(written.map((row) => row.delivery_id));
  const passed = deliveries.filter(({ deliveryId }) => !stored.has(deliveryId));
  await keepWaitingMerges(
    database,
    passed.flatMap(({ reduced: it }) => (it.event === "pull_request" ? it.facts : [])),
  );
  // Of two with one id, the first is the one that was written.
  return deliveries.map(({ deliveryId }) => (stored.delete(deliveryId) ? "stored" : "passed"));
}

export type DueDelivery = Pick<typeof webhookInbox.$inferSelect, keyof typeof DUE>;
const DUE = picked(webhookInbox, ["deliveryId", "event", "facts", "attempts"]);

/** The deliveries to apply at `now`, in the order of the payloads' own times, at most `limit`. */
export const dueDeliveries = ({ db }: Database, now: Date, limit: number): Promise<DueDelivery[]> =>
  db
    .select(DUE)
    .from(webhookInbox)
    .where(
      ours(
        webhookInbox,
        { processedAt: null },
        or(isNull(webhookInbox.nextAttemptAt), lte(webhookInbox.nextAttemptAt, now.toISOString())),
      ),
    )
    // As the index is ordered, in which null `processed_at` come last: a backlog is not sorted for every batch.
    .orderBy(asc(webhookInbox.processedAt), asc(webhookInbox.occurredAt))
    .limit(limit);

const pending = (deliveryIds: readonly string[]) =>
  ours(webhookInbox, { deliveryId: [...deliveryIds], processedAt: null });

/** Locks deliveries and marks them applied, if the transaction holds. @returns ids, without applied and locked ones. */
export async function claimDeliveries(
  tx: Transaction,
  deliveryIds: readonly string[],
  now: Date,
): Promise<Set<string>> {
  const free = await tx
    .select({ id: webhookInbox.deliveryId })
    .from(webhookInbox)
    .where(pending(deliveryIds))
    .orderBy(asc(webhookInbox.deliveryId))
    .for("update", { skipLocked: true });
  if (free.length === 0) return new Set();
  const ids = free.map((row) => row.id);
  await tx
    .update(webhookInbox)
    .set({ processedAt: now.toISOString(), nextAttemptAt: null, failure: null })
    .where(pending(ids));
  return new Set(ids);
}

const BACK_OFF = { fromMs: 1_000, maxMs: 3_600_000 };

/** Records a failed attempt by its class. @returns the milliseconds until the next attempt. */
export async function retryDelivery(
  { db }: Database,
  { deliveryId, attempts }: DueDelivery,
  { failure, now }: { failure: string; now: Date },
): Promise<number> {
  const waitMs = backOffMs(attempts, BACK_OFF);
  await db
    .update(webhookInbox)
    .set({
      failure,
      attempts: sql`${webhookInbox.attempts} + 1`,
      nextAttemptAt: new Date(now.getTime() + waitMs).toISOString(),
    })
    .where(pending([deliveryId]));
  return waitMs;
}

export async function purgeApplied({ sql }: Database, before: Date): Promise<number> {
  const removed = await sql`
    delete from webhook_inbox where org_id = ${DEFAULT_ORG} and processed_at < ${before.toISOString()}::timestamptz`;
  return removed.count;
}

/** The ones of these delivery ids that reached the inbox, or that GitHub refused to send again. */
export async function deliveriesIn(
  table: "webhook_inbox" | "refused_redeliveries",
  { sql }: Database,
  deliveryIds: readonly string[],
): Promise<Set<string>> {
  if (deliveryIds.length === 0) return new Set();
  const rows = await sql<{ delivery_id: string }[]>`
    select delivery_id from ${sql(table)}
    where org_id = ${DEFAULT_ORG}
      and delivery_id in (select jsonb_array_elements_text(${sql.json(deliveryIds)}::jsonb))`;
  return new Set(rows.map((row) => row.delivery_id));
}

/** Stores that GitHub refused to send a delivery again; deletes refusals from before `forgetBefore`. */
export async function noteRefusedRedelivery(
  { sql }: Database,
  { deliveryId, status }: { deliveryId: string; status: number },
  { now, forgetBefore }: { now: Date; forgetBefore: Date },
): Promise<void> {
  await sql`
    insert into refused_redeliveries (org_id, delivery_id, status, refused_at)
    values (${DEFAULT_ORG}, ${deliveryId}, ${status}, ${now.toISOString()}::timestamptz)
    on conflict do nothing`;
  await sql`
    delete from refused_redeliveries
    where org_id = ${DEFAULT_ORG} and refused_at < ${forgetBefore.toISOString()}::timestamptz`;
}
