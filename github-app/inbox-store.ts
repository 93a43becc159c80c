import { and, asc, eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Database } from "#drizzle/database.ts";
import { webhookInbox } from "#drizzle/schema/github.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import type { ReducedDelivery } from "./reduce.ts";

/** A transaction of the `db` client. */
export type Transaction = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0];

export type Delivery = { deliveryId: string; receivedAt: Date; reduced: ReducedDelivery };

/** `passed`: a repetition, or pull-request stamping is switched off; nothing was written. */
export type StoreOutcome = "stored" | "passed";

/**
 * Writes a delivery to the inbox, once per delivery id, if `pull_request_stamping` is on at this moment. One statement,
 * so that the answer to GitHub waits for one round trip only.
 */
export async function storeDelivery({ sql }: Database, delivery: Delivery): Promise<StoreOutcome> {
  const { deliveryId, receivedAt, reduced } = delivery;
  const written = await sql`
    insert into webhook_inbox (org_id, delivery_id, event, action, occurred_at, received_at, facts)
    select ${DEFAULT_ORG}, ${deliveryId}, ${reduced.event}, ${reduced.action},
      ${reduced.occurredAt}::timestamptz, ${receivedAt.toISOString()}::timestamptz, ${sql.json(reduced.facts)}::jsonb
    where coalesce(
      (select value -> 'pull_request_stamping' from settings where org_id = ${DEFAULT_ORG}),
      to_jsonb(${DEFAULT_SETTINGS.pull_request_stamping}::boolean)
    ) = 'true'::jsonb
    on conflict do nothing`;
  return written.count === 1 ? "stored" : "passed";
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
    .orderBy(asc(webhookInbox.occurredAt), asc(webhookInbox.deliveryId))
    .limit(limit);

const isDelivery = (deliveryId: string) =>
  and(eq(webhookInbox.orgId, DEFAULT_ORG), eq(webhookInbox.deliveryId, deliveryId));

/**
 * Takes a delivery for this transaction and marks it applied; the transaction's end makes that true or undoes it. False
 * when it was applied already or another process has it in hand.
 */
export async function claimDelivery(tx: Transaction, deliveryId: string, now: Date): Promise<boolean> {
  const free = tx
    .select({ id: webhookInbox.deliveryId })
    .from(webhookInbox)
    .where(and(isDelivery(deliveryId), isNull(webhookInbox.processedAt)))
    .for("update", { skipLocked: true });
  const rows = await tx
    .update(webhookInbox)
    .set({ processedAt: now.toISOString(), nextAttemptAt: null, failure: null })
    .where(and(eq(webhookInbox.orgId, DEFAULT_ORG), inArray(webhookInbox.deliveryId, free)))
    .returning({ id: webhookInbox.deliveryId });
  return rows.length === 1;
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
