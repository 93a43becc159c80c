import type { Database } from "#drizzle/database.ts";
import { type Lease, takeLease } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import { repriceJobs } from "#drizzle/schema/reprice-jobs.ts";
import type { Clock } from "#shared/clock.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import type { Log } from "#shared/log.ts";
import type { Directory } from "../directory.ts";
import { listUnpriced } from "../stores/reprice.ts";
import { auditRepricing, isUnfinished, type RepriceJobRow, stepJob } from "../stores/reprice-jobs.ts";
import { pricing, RECORDS_AT_ONCE } from "./price-records.ts";

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
  await auditRepricing(deps.database, origin, { sums, finish: (tx) => lease.finish(done, tx) });
}

/** The known cost of the window's records so far, as an exact decimal. */
export const newCostOf = ({ oldCostUsd, addedCostUsd }: RepriceJobRow): string =>
  formatDecimal(plus(parseDecimal(oldCostUsd), parseDecimal(addedCostUsd)));
