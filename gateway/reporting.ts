import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Coverage, Result, Spec } from "#shared/report.ts";
import { assemble } from "./reports/assemble.ts";
import type { Ask } from "./reports/context.ts";
import { coverageOf, firstsQuery, lateLabels, olderRecords, sinceOf } from "./reports/coverage.ts";
import { planReport } from "./reports/plan.ts";
import { revertedOf, revertsQuery } from "./reports/reverts.ts";
import type { Reach } from "./reports/rollup/cover.ts";
import { reachOf, surveyQuery } from "./reports/rollup/survey.ts";
import { type Period, type Periods, periodsOf } from "./reports/window.ts";
import { type AskDatabase, openReportStore } from "./stores/reports/report-store.ts";

/** Answers checked specs, from single records or from rollups of them. */
export type ReportRunner = {
  /**
   * The result of a checked spec (reports/spec.ts), with `now` as the end of ranges that have none.
   * @throws GatewayError invalid_request for a range that cannot be; store_unavailable when Postgres is away or a statement
   * takes longer than 30 s; overloaded when too many reports wait already.
   */
  run(spec: Spec, now: Date): Promise<Result>;
  close(): Promise<void>;
};

/** Under so many records single ones are read: it takes no longer, and the 95th percentile is exact. */
const ROLLUPS_FROM = 20_000;

type Options = {
  url: string;
  orgId?: string;
  /** Records in a report's windows from which rollups are read; infinite: only where single records are dropped. */
  rollupsFrom?: number;
};

export function reportRunner({
  url,
  orgId = DEFAULT_ORG,
  rollupsFrom = ROLLUPS_FROM,
}: Options): ReportRunner {
  const store = openReportStore(url);
  return {
    run: (spec, now) => report({ store, orgId, rollupsFrom }, spec, now),
    close: store.close,
  };
}

type Reporting = { store: ReturnType<typeof openReportStore>; orgId: string; rollupsFrom: number };

/** One report, from its spec to its result. Read it top to bottom: that is the order in which things happen. */
async function report({ store, orgId, rollupsFrom }: Reporting, spec: Spec, now: Date): Promise<Result> {
  // Window: the current period, and the one to compare it with.
  const periods = periodsOf(spec.range, spec.compare, now);

  // All statements read one snapshot, so that rows, total and coverage cannot disagree.
  const answers = await store.snapshot(async (database) => {
    // Facts: single records where these are few, else sums of them as far as they reach.
    const reach = await reachIn(database, { orgId, spec, periods }, rollupsFrom);
    const reverted = needsReverts(spec) ? revertedOf(await database(revertsQuery(orgId))) : [];

    // Plan and run: one statement for the rows of both periods, side by side, and their total.
    const ask: Ask = { orgId, spec, periods, reverted, reach };
    const rows = await database(planReport(ask));

    // Coverage: what the labels asked for do not reach back to.
    return { rows, coverage: await coverageIn(database, ask, rollupsFrom) };
  });

  // Compare and assemble: exact figures, their changes, shares and lower bounds, and why the cost changed.
  return assemble(spec, periods, answers);
}

const EVER: Period = { fromMs: null, toMs: Date.UTC(9999, 0) };
const ALL_TIME: Periods = { current: EVER, previous: null };

/** How far rollups reach; null where single records are read. Sessions of outcomes ran at any time. */
async function reachIn(
  database: AskDatabase,
  { orgId, spec, periods }: Pick<Ask, "orgId" | "spec" | "periods">,
  rollupsFrom: number,
): Promise<Reach | null> {
  if (spec.source !== "requests" && spec.source !== "outcomes") return null;
  const asked = spec.source === "requests" ? periods : ALL_TIME;
  return reachOf(await database(surveyQuery(orgId, asked, rollupsFrom)), rollupsFrom);
}

/** Null where all labels asked for were recorded from the start. They may be older than the windows. */
async function coverageIn(database: AskDatabase, ask: Ask, rollupsFrom: number): Promise<Coverage | null> {
  if (lateLabels(ask.spec).length === 0) return null;
  const reach = ask.reach ?? (await reachIn(database, { ...ask, periods: ALL_TIME }, rollupsFrom));
  const everything: Ask = { ...ask, reach };
  const since = sinceOf(ask.spec, await database(firstsQuery(everything)));
  if (!since) return null;
  return coverageOf(ask, since, await database(planReport(olderRecords(everything, since))));
}

const needsReverts = ({ measures }: Spec): boolean =>
  measures.some((measure) => measure === "reverted_prs" || measure === "revert_rate");
