import { readEnd, readInstant } from "#shared/admin/fields.ts";
import { type RepriceBody, RepriceJobView, type RepriceView } from "#shared/admin/prices.ts";
import { formatDecimal, parseDecimal, plus } from "#shared/decimal.ts";
import { GatewayError } from "../errors.ts";
import {
  auditRepricing,
  cancelJob,
  findJob,
  insertJob,
  newCostOf,
  type RepriceJobRow,
} from "../repricing/reprice-jobs.ts";
import {
  applyPrices,
  costOfWindow,
  listUnpriced,
  pricing,
  RECORDS_AT_ONCE,
  type RecordWindow,
  type UnpricedRecord,
} from "../repricing/unpriced-records.ts";
import type { Origin } from "../stores/audit.ts";
import { audited, type Reader } from "../stores/change.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";
import { idParameter } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

/** Maximum number of records priced before the answer; larger repricings run as a background job. */
const AT_ONCE_MAX = 5000;

/**
 * Prices the unpriced records of a window by the prices that were in force when each was made: at once, or as a job
 * (202) that any gateway works on.
 */
export async function reprice(
  deps: AdminDeps,
  origin: Origin,
  body: RepriceBody,
): Promise<RepriceView | Response> {
  const window = windowOf(body);
  const dryRun = body.dry_run ?? false;
  await awaitSettled(deps);
  // A price that was entered through another gateway is known from here on.
  await readDatabase(deps, () => deps.directory.refresh());
  const before = await readDatabase(deps, (db) => costOfWindow(db, window));
  if (before.unpriced <= AT_ONCE_MAX) return repriceAtOnce(deps, origin, { window, dryRun, before });
  const job = await insertJob(deps.database, { window, dryRun, before, origin });
  const location = `/admin/v1/prices/reprice/${job.id}`;
  return Response.json(jobView(job), { status: 202, headers: { location } });
}

type Asked = { window: RecordWindow; dryRun: boolean; before: { unpriced: number; costUsd: string } };

async function repriceAtOnce(
  deps: AdminDeps,
  origin: Origin,
  { window, dryRun, before }: Asked,
): Promise<RepriceView> {
  const price = pricing(deps.directory.current(), deps.clock.now());
  const oldCostUsd = formatDecimal(parseDecimal(before.costUsd));
  let repriced = 0;
  let cost = parseDecimal(before.costUsd);
  const sums = () => ({ ...window, repriced, oldCostUsd, newCostUsd: formatDecimal(cost) });
  await auditRepricing(deps.database, origin, {
    sums,
    work: async (tx) => {
      for await (const records of unpricedIn(tx, window)) {
        const priced = records.flatMap(price);
        const kept = dryRun || priced.length === 0 ? priced : await applyPrices(tx, priced);
        repriced += kept.length;
        cost = kept.reduce((sum, { costUsd }) => plus(sum, parseDecimal(costUsd)), cost);
      }
      return !dryRun && repriced > 0;
    },
  });
  return {
    dry_run: dryRun,
    ...window,
    unpriced_records: before.unpriced,
    repriced_records: repriced,
    old_cost_usd: oldCostUsd,
    new_cost_usd: formatDecimal(cost),
  };
}

async function* unpricedIn(reader: Reader, window: RecordWindow): AsyncGenerator<UnpricedRecord[]> {
  let after: UnpricedRecord | undefined;
  do {
    const slice = { after: after ?? null, limit: RECORDS_AT_ONCE };
    const records: UnpricedRecord[] = await listUnpriced(reader, window, slice);
    yield records;
    after = records.length === RECORDS_AT_ONCE ? records.at(-1) : undefined;
  } while (after);
}

function windowOf({ from, to }: RepriceBody): RecordWindow {
  const fromMs = readInstant(from) ?? 0;
  const toMs = readEnd(to) ?? 0;
  if (fromMs >= toMs) throw new GatewayError("invalid_request", "/to: Expected a time after /from.");
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** Cancels a job; priced records keep their prices. The audit log keeps its old and its new sum. */
export const cancelReprice = (deps: AdminDeps, origin: Origin, text: string): Promise<RepriceJobView> =>
  audited(deps.database, origin, async (tx, audit) => {
    const id = idParameter(text);
    if (!(await findJob(tx, id))) throw new GatewayError("not_found");
    const job = await cancelJob(tx, id, deps.clock.now());
    if (!job) throw new GatewayError("conflict", "The job is finished.");
    const after = jobView(job);
    await audit({ action: "repricing.cancelled", subject: `${job.from} to ${job.to}`, after });
    return after;
  });

const stateOf = ({ finishedAt, cancelledAt }: RepriceJobRow): RepriceJobView["state"] => {
  if (finishedAt === null) return "running";
  return cancelledAt === null ? "done" : "cancelled";
};

export const jobView = (job: RepriceJobRow): RepriceJobView =>
  viewAs(RepriceJobView, {
    ...job,
    state: stateOf(job),
    oldCostUsd: formatDecimal(parseDecimal(job.oldCostUsd)),
    newCostUsd: newCostOf(job),
  });
