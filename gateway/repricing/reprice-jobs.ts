import { and, eq, isNull, sql } from "drizzle-orm";
import type { Database, Transaction } from "#drizzle/database.ts";
import { type Lease, takeLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import type { Clock } from "#shared/clock.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { Directory } from "../directory.ts";
import { auditIn, type Origin } from "../stores/audit.ts";
import { idRows } from "../stores/id-rows.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import {
  applyPrices,
  listUnpriced,
  type NewPrice,
  pricing,
  RECORDS_AT_ONCE,
  type RecordWindow,
  type UnpricedRecord,
} from "./unpriced-records.ts";

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

export const { find: findJob, list: listJobs } = idRows(repriceJobs);

const isUnfinished = isNull(repriceJobs.finishedAt);

type Step = { records: readonly UnpricedRecord[]; priced: readonly NewPrice[] };

/**
 * Applies the prices of one batch and notes the progress, both or neither. Null: another process has gone on with the job,
 * and nothing was written.
 */
const stepJob = (
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
  /** Read once the work is done. */
  sums: () => RepricedSums;
  /** What is written together with the entry, or not at all; false: there is nothing to audit. */
  work: (tx: Transaction) => Promise<boolean>;
};

/** The old sum and the new one are kept in the audit log. */
export const auditRepricing = (
  { db }: Pick<Database, "db">,
  origin: Origin,
  { sums, work }: RepricedAudit,
): Promise<void> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      if (!(await work(tx))) return;
      const { from, to, repriced, oldCostUsd, newCostUsd } = sums();
      const write = auditIn(tx, origin);
      await write({
        action: "prices.repriced",
        subject: `${from} to ${to}`,
        before: { cost_usd: oldCostUsd },
        after: { cost_usd: newCostUsd, repriced_records: repriced },
      });
    }),
  );

export type RepriceJobsDeps = {
  database: Database;
  directory: { current(): Directory; refresh(): Promise<void> };
  clock: Clock;
  log: Log;
};

const POLL_MS = 1000;
/** After a process dies, another goes on with its job when this has passed. */
const LEASE_MS = 15_000;

/** Works on jobs of repricing until stopped. Any number of gateways may do so: each job is one process's at a time. */
export const startRepriceJobs = (deps: RepriceJobsDeps): Poller =>
  poll({ log: deps.log, pollMs: POLL_MS, round: (stopping) => doRepriceJob(deps, stopping) });

/** Works on one job; false: there is none. Progress is stored after every batch, so a job goes on where it was left. */
async function doRepriceJob(deps: RepriceJobsDeps, stopping: () => boolean): Promise<boolean> {
  const lease = await takeLease(deps, repriceJobs, { where: isUnfinished, leaseMs: LEASE_MS });
  if (!lease) return false;
  try {
    // A price that was entered through another gateway before the job is known from here on.
    await deps.directory.refresh();
    await work(deps, lease, stopping);
  } catch (error) {
    await lease.retry(error);
    throw error;
  }
  return true;
}

async function work(
  deps: RepriceJobsDeps,
  lease: Lease<RepriceJobRow>,
  stopping: () => boolean,
): Promise<void> {
  const { database } = deps;
  let job = lease.row;
  while (!stopping()) {
    const { lastId: id, lastStartedAt: startedAt } = job;
    const after = id === null || startedAt === null ? null : { id, startedAt };
    const records = await listUnpriced(database.db, job, { after, limit: RECORDS_AT_ONCE });
    if (records.length === 0) return finish(deps, lease, job);
    const priced = records.flatMap(pricing(deps.directory.current(), deps.clock.now()));
    const next = await stepJob(database, job, { records, priced });
    if (!next || !(await lease.renew())) return;
    job = next;
  }
  await lease.finish({});
}

async function finish(deps: RepriceJobsDeps, lease: Lease<RepriceJobRow>, job: RepriceJobRow): Promise<void> {
  const at = deps.clock.now();
  const done = { finishedAt: at.toISOString() };
  const { from, to, actor, address, requestId, oldCostUsd, repricedRecords: repriced } = job;
  if (job.dryRun || repriced === 0) return void (await lease.finish(done));
  const sums = { from, to, repriced, oldCostUsd, newCostUsd: newCostOf(job) };
  const origin = { actor, address, requestId, at };
  await auditRepricing(deps.database, origin, { sums: () => sums, work: (tx) => lease.finish(done, tx) });
}

/** The known cost of the window's records so far, as an exact decimal. */
export const newCostOf = ({ oldCostUsd, addedCostUsd }: RepriceJobRow): string =>
  formatDecimal(plus(parseDecimal(oldCostUsd), parseDecimal(addedCostUsd)));
