import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { auditIn, type Origin } from "./audit.ts";
import type { Reader } from "./change.ts";
import { applyPrices, type NewPrice, type RecordWindow, type UnpricedRecord } from "./reprice.ts";
import type { Slice } from "./slice.ts";
import { withStoreErrors } from "./store-errors.ts";

export type RepriceJobRow = typeof repriceJobs.$inferSelect;

const isJob = (id: string) => and(eq(repriceJobs.orgId, DEFAULT_ORG), eq(repriceJobs.id, id));

export type NewJob = {
  window: RecordWindow;
  dryRun: boolean;
  before: { unpriced: number; costUsd: string };
  origin: Origin;
};

export const insertJob = (
  { db }: Pick<Database, "db">,
  { window, dryRun, before, origin }: NewJob,
): Promise<RepriceJobRow> =>
  withStoreErrors(async () => {
    const { actor, address, requestId, at } = origin;
    const asked = { actor, address, requestId, createdAt: at.toISOString() };
    const sums = { unpricedRecords: before.unpriced, oldCostUsd: before.costUsd };
    const [row] = await db
      .insert(repriceJobs)
      .values({ id: newId(), ...window, dryRun, ...asked, ...sums })
      .returning();
    if (!row) throw new Error("The job was not stored.");
    return row;
  });

export async function findJob(reader: Reader, id: string): Promise<RepriceJobRow | null> {
  const [row] = await reader.select().from(repriceJobs).where(isJob(id));
  return row ?? null;
}

/** Newest first. */
export const listJobs = (reader: Reader, { after, limit }: Slice): Promise<RepriceJobRow[]> =>
  reader
    .select()
    .from(repriceJobs)
    .where(and(eq(repriceJobs.orgId, DEFAULT_ORG), after === null ? undefined : lt(repriceJobs.id, after)))
    .orderBy(desc(repriceJobs.id))
    .limit(limit);

export const isUnfinished = isNull(repriceJobs.finishedAt);

type Step = { records: readonly UnpricedRecord[]; priced: readonly NewPrice[] };

/**
 * Applies the prices of one batch and notes the progress, both or neither. Null: another process has gone on with the job,
 * and nothing was written.
 */
export const stepJob = (
  { db }: Pick<Database, "db">,
  job: RepriceJobRow,
  { records, priced }: Step,
): Promise<RepriceJobRow | null> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      const last = records.at(-1);
      const [current] = await tx.select().from(repriceJobs).where(isJob(job.id)).for("update");
      if (!last || !current || current.finishedAt !== null || current.lastId !== job.lastId) return null;
      const kept = job.dryRun || priced.length === 0 ? priced : await applyPrices(tx, priced);
      const costs = JSON.stringify(kept.map(({ costUsd }) => costUsd));
      const added = sql`(select coalesce(sum(cost::numeric), 0) from json_array_elements_text(${costs}::text::json) as cost)`;
      const [row] = await tx
        .update(repriceJobs)
        .set({
          checkedRecords: sql`${repriceJobs.checkedRecords} + ${records.length}`,
          repricedRecords: sql`${repriceJobs.repricedRecords} + ${kept.length}`,
          addedCostUsd: sql`${repriceJobs.addedCostUsd} + ${added}`,
          lastStartedAt: last.startedAt,
          lastId: last.id,
        })
        .where(isJob(job.id))
        .returning();
      return row ?? null;
    }),
  );

/**
 * Cancels a job; what is priced stays priced. The row's lock lets the batch under way end first, and its process has lost
 * the lease then. Null: it was finished already.
 */
export async function cancelJob(tx: Transaction, id: string, at: Date): Promise<RepriceJobRow | null> {
  const ended = at.toISOString();
  const [job] = await tx
    .update(repriceJobs)
    .set({ finishedAt: ended, cancelledAt: ended, leasedUntil: null, failure: null })
    .where(and(isJob(id), isUnfinished))
    .returning();
  return job ?? null;
}

type RepricedSums = {
  from: string;
  to: string;
  repriced: number;
  oldCostUsd: string;
  newCostUsd: string;
};

export type RepricedAudit = {
  sums: RepricedSums;
  /** What is written together with the entry, or not at all; false: another process did it, so there is no entry. */
  finish?: (tx: Transaction) => Promise<boolean>;
};

/** The old sum and the new one are kept in the audit log. */
export const auditRepricing = (
  { db }: Pick<Database, "db">,
  origin: Origin,
  { sums: { from, to, repriced, oldCostUsd, newCostUsd }, finish = async () => true }: RepricedAudit,
): Promise<void> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      if (!(await finish(tx))) return;
      const write = auditIn(tx, origin);
      await write({
        action: "prices.repriced",
        subject: `${from} to ${to}`,
        before: { cost_usd: oldCostUsd },
        after: { cost_usd: newCostUsd, repriced_records: repriced },
      });
    }),
  );
