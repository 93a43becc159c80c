import { and, isNull, sql } from "drizzle-orm";
import type { Database, Db, Transaction } from "#drizzle/database.ts";
import { type Lease, takeLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { first, ours } from "#drizzle/ours.ts";
import { repriceDifferences, repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import type { Clock } from "#shared/clock.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import { newId } from "#shared/ids.ts";
import type { Log } from "#shared/log.ts";
import type { Directory } from "../directory.ts";
import { auditIn, type Origin } from "../stores/audit.ts";
import { closedMonthsIn, holdPeriods } from "../stores/periods.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { newCostOf, type RepriceJobRow } from "./job-rows.ts";
import { pricing } from "./price-record.ts";
import {
  applyPrices,
  costOfSelection,
  listSelected,
  type NewPrice,
  type RecordToPrice,
  type Selection,
} from "./priced-again.ts";

const isJob = (id: string) => ours(repriceJobs, { id });

export type NewJob = { selection: Selection; dryRun: boolean; origin: Origin };

/** Stores a job for any gateway to do. Null: every month of its window is closed. */
export const insertJob = ({ db }: Db, { selection, dryRun, origin }: NewJob): Promise<RepriceJobRow | null> =>
  withStoreErrors(async () => {
    const { actor, address, requestId, at } = origin;
    const asked = { actor, address, requestId, createdAt: at.toISOString() };
    const { months: closedMonths, isAll } = await closedMonthsIn(db, selection);
    if (isAll) return null;
    const { costUsd: oldCostUsd, records } = await costOfSelection(db, selection, closedMonths);
    const before = { records, oldCostUsd, closedMonths };
    const [row] = await db
      .insert(repriceJobs)
      .values({ id: newId(), ...selection, dryRun, ...asked, ...before })
      .returning();
    if (!row) throw new Error("The job was not stored.");
    return row;
  });

const isUnfinished = isNull(repriceJobs.finishedAt);

type Price = ReturnType<typeof pricing>;
type Change = { record: RecordToPrice; price: NewPrice };

/** Prices the next records and notes it, both or neither. `ended`: none left. Null: another process has the job. */
const stepJob = ({ db }: Db, job: RepriceJobRow, priceOf: Price): Promise<RepriceJobRow | "ended" | null> =>
  withStoreErrors(() =>
    db.transaction(async (tx) => {
      const [current] = await tx.select().from(repriceJobs).where(isJob(job.id)).for("update");
      if (!current || current.finishedAt !== null || current.lastId !== job.lastId) return null;
      await holdPeriods(tx);
      const { months: closedMonths } = await closedMonthsIn(tx, job);
      const records = await listSelected(tx, job, { closedMonths, after: job.lastId });
      const last = records.at(-1);
      if (!last) return "ended";
      const priced = records.map((record) => ({ record, price: priceOf(record) }));
      const changes = priced.flatMap(({ record, price }) =>
        typeof price === "string" ? [] : [{ record, price }],
      );
      const kept = job.dryRun ? changes : await applied(tx, job, changes);
      if (job.kind === "restate") await addDifferences(tx, job.id, kept);
      const left = priced.filter(({ price }) => price === "left").length;
      const usd = (of: "oldCostUsd" | "costUsd") =>
        kept.reduce((sum, { price }) => plus(sum, parseDecimal(price[of] ?? "0")), parseDecimal("0"));
      const [before, after] = [formatDecimal(usd("oldCostUsd")), formatDecimal(usd("costUsd"))];
      const [row] = await tx
        .update(repriceJobs)
        .set({
          closedMonths: [...new Set([...current.closedMonths, ...closedMonths])].sort(),
          checkedRecords: sql`${repriceJobs.checkedRecords} + ${records.length}`,
          repricedRecords: sql`${repriceJobs.repricedRecords} + ${kept.length}`,
          leftRecords: sql`${repriceJobs.leftRecords} + ${left}`,
          addedCostUsd: sql`${repriceJobs.addedCostUsd} + ${after}::numeric - ${before}::numeric`,
          lastStartedAt: last.startedAt,
          lastId: last.id,
        })
        .where(isJob(job.id))
        .returning();
      return row ?? null;
    }),
  );

/** The changes that were made: a record whose cost was changed meanwhile keeps it. */
async function applied(
  tx: Transaction,
  { actor, kind }: RepriceJobRow,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  if (changes.length === 0) return changes;
  const reason = kind === "restate" ? "restated" : "repriced";
  const prices = changes.map(({ price }) => price);
  const written = await applyPrices(tx, prices, { actor, reason });
  const ids = new Set(written.map(({ id }) => id));
  return changes.filter(({ price }) => ids.has(price.id));
}

async function addDifferences(tx: Transaction, job: string, changes: readonly Change[]): Promise<void> {
  const rows = changes.map(({ record: { startedAt, team, model }, price: { oldCostUsd, costUsd } }) => ({
    month: startedAt.slice(0, 7),
    team,
    model,
    before: oldCostUsd ?? "0",
    after: costUsd ?? "0",
  }));
  await tx.execute(sql`
    insert into ${repriceDifferences} as it (job_id, month, team, model, records, old_cost_usd, new_cost_usd)
    select ${job}::uuid, month, team, model, count(*), sum(before), sum(after)
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r(month text, team text, model text, before numeric, after numeric)
    group by month, team, model order by month, team, model
    on conflict (org_id, job_id, month, team, model) do update set records = it.records + excluded.records,
      old_cost_usd = it.old_cost_usd + excluded.old_cost_usd, new_cost_usd = it.new_cost_usd + excluded.new_cost_usd`);
}

/**
 * Cancels a job; what is priced stays priced. The row's lock lets the batch under way end first, and its process has lost
 * the lease then. Null: it was finished already.
 */
export function cancelJob(tx: Transaction, id: string, at: Date): Promise<RepriceJobRow | null> {
  const ended = {
    finishedAt: at.toISOString(),
    cancelledAt: at.toISOString(),
    leasedUntil: null,
    failure: null,
  };
  const isRunning = ours(repriceJobs, { id, finishedAt: null });
  return first(tx.update(repriceJobs).set(ended).where(isRunning).returning());
}

export type RepriceJobsDeps = {
  database: Database;
  directory: { current(): Directory; refresh(): Promise<void> };
  clock: Clock;
};

const POLL_MS = 1000;
/** After a process dies, another goes on with its job when this has passed. */
const LEASE_MS = 15_000;

/** Works on jobs of repricing until stopped. Any number of gateways may do so: each job is one process's at a time. */
export const startRepriceJobs = (deps: RepriceJobsDeps & { log: Log }): Poller =>
  poll({ log: deps.log, pollMs: POLL_MS, round: (stopping) => doRepriceJob(deps, { stopping }) });

/** Works on one job, or the one with this id; false: none waits. Progress is stored after each batch. */
export async function doRepriceJob(
  deps: RepriceJobsDeps,
  { id, stopping = () => false }: { id?: string; stopping?: () => boolean },
): Promise<boolean> {
  const where = and(isUnfinished, id === undefined ? undefined : isJob(id));
  const lease = await takeLease(deps, repriceJobs, { where, leaseMs: LEASE_MS });
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
  const priceOf = pricing(deps.directory.current(), deps.clock.now());
  let job = lease.row;
  while (!stopping()) {
    const next = await stepJob(deps.database, job, priceOf);
    if (next === "ended") return finish(deps, lease, job);
    if (!next || !(await lease.renew())) return;
    job = next;
  }
  await lease.finish({});
}

/** The old sum and the new one are kept in the audit log, together with the end of the job. */
async function finish(deps: RepriceJobsDeps, lease: Lease<RepriceJobRow>, job: RepriceJobRow): Promise<void> {
  const at = deps.clock.now();
  const done = { finishedAt: at.toISOString() };
  const { kind, from, to, provider, model, actor, address, requestId, oldCostUsd, repricedRecords } = job;
  if (job.dryRun || repricedRecords === 0) return void (await lease.finish(done));
  await withStoreErrors(() =>
    deps.database.db.transaction(async (tx) => {
      if (!(await lease.finish(done, tx))) return;
      const of = [provider, model].filter((name) => name !== null).join("/");
      await auditIn(tx, { actor, address, requestId, at })({
        action: kind === "restate" ? "prices.restated" : "prices.repriced",
        subject: `${from} to ${to}${of && ` of ${of}`}`,
        before: { cost_usd: formatDecimal(parseDecimal(oldCostUsd)) },
        after: { cost_usd: newCostOf(job), repriced_records: repricedRecords },
      });
    }),
  );
}
