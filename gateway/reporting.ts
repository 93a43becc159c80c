import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Coverage, Result, Spec } from "#shared/report.ts";
import { hasWholeHours } from "#shared/time-zone.ts";
import { GatewayError } from "./errors.ts";
import { type AnswerRow, type Answers, assemble, hasUnpriced, isEmpty } from "./reports/assemble.ts";
import { ceilingQuery, hasBatches, ofBatches } from "./reports/ceiling.ts";
import { type Ask, isZoned } from "./reports/context.ts";
import { coverageOf, firstsQuery, lateLabels, olderRecords, sinceOf } from "./reports/coverage.ts";
import { UTC } from "./reports/dimensions.ts";
import { CLICKHOUSE, type Engine, POSTGRES } from "./reports/engines.ts";
import { asksForExplanation, declaredOf, declaredQuery } from "./reports/explained.ts";
import { planReport } from "./reports/plan.ts";
import { tasksOf, tasksQuery } from "./reports/relations.ts";
import { revertedOf, revertsQuery } from "./reports/reverts.ts";
import type { Reach } from "./reports/rollup/cover.ts";
import { isDropped, reachOf, surveyQuery } from "./reports/rollup/survey.ts";
import { type Period, type Periods, periodsOf } from "./reports/window.ts";
import {
  type AskDatabase,
  openReportRecords,
  openReportStore,
  type ReportStore,
} from "./stores/reports/report-store.ts";

/** Answers checked specs, from single records or, in Postgres, from rollups of them. */
export type ReportRunner = {
  /**
   * The result of a checked spec (reports/spec.ts), with `now` as the end of ranges that have none.
   * @throws GatewayError invalid_request for a range that cannot be; store_unavailable when a database is away or a statement
   * takes longer than 30 s.
   */
  run(spec: Spec, now: Date, how?: Partial<Reading>): Promise<Result>;
  /** Several at once, of one snapshot of Postgres. One that fails fails all. */
  runAll(specs: readonly Spec[], now: Date, how?: Partial<Reading>): Promise<ResultWithEmpty[]>;
  close(): Promise<void>;
};

/** `byOwner`: a filter by subject means the owners of keys alone. `timeZone`: the zone of days, weeks and months. */
type Reading = Pick<Ask, "byOwner" | "timeZone">;

/** `empty`: the report's windows have no records. `ceiling`: its cost is at most this, for it holds whole batches. */
export type ResultWithEmpty = Result & { empty: boolean; ceiling: boolean };

/** Under so many records single ones are read: it takes no longer, and the 95th percentile is exact. */
const ROLLUPS_FROM = 20_000;

type Options = {
  url: string;
  /** Where records are read instead of Postgres; null: they are not. */
  clickhouseUrl?: string | null;
  orgId?: string;
  /** Records in a report's windows from which rollups are read; infinite: only where single records are dropped. */
  rollupsFrom?: number;
};

export function reportRunner({
  url,
  clickhouseUrl = null,
  orgId = DEFAULT_ORG,
  rollupsFrom = ROLLUPS_FROM,
}: Options): ReportRunner {
  const postgres = openReportStore(url);
  const clickhouse = clickhouseUrl === null ? null : openReportRecords(clickhouseUrl);
  const reporting = { postgres, clickhouse, orgId, rollupsFrom, byOwner: false, timeZone: UTC };
  return {
    async run(spec, now, how) {
      const [answered] = await reports({ ...reporting, ...how }, [spec], now);
      if (!answered) throw new Error("A report has no answer.");
      const { empty: _, ceiling: __, ...result } = answered;
      return result;
    },
    runAll: (specs, now, how) => reports({ ...reporting, ...how }, specs, now),
    close: async () => {
      await Promise.all([postgres.close(), clickhouse?.close()]);
    },
  };
}

type Reporting = Reading & {
  postgres: ReportStore;
  /** Null: records are read from Postgres. */
  clickhouse: ReportStore | null;
  orgId: string;
  rollupsFrom: number;
};

/** From specs to results. Read it top to bottom, and then `answersIn`: that is the order in which things happen. */
async function reports(reporting: Reporting, specs: readonly Spec[], now: Date): Promise<ResultWithEmpty[]> {
  // Windows: the current period of each, and the one to compare it with.
  const { timeZone } = reporting;
  const asked = specs.map((spec) => ({
    spec,
    periods: periodsOf(spec.range, spec.compare, { now, timeZone }),
  }));

  // All statements read one snapshot of Postgres, so that rows, totals and reports cannot disagree.
  const answers = await reading(reporting, async (databases) => {
    const made: Answers[] = [];
    for (const one of asked) made.push(await answersIn(databases, reporting, one));
    return made;
  });

  // Compare and assemble: exact figures, their changes, shares and lower bounds, and why the cost changed.
  return answers.flatMap((answer, i) => {
    const one = asked[i];
    if (!one) return [];
    const { ceiling } = answer;
    return [{ ...assemble(one.spec, one.periods, answer), empty: isEmpty(answer), ceiling }];
  });
}

async function answersIn(
  databases: Databases,
  { orgId, rollupsFrom, byOwner, timeZone }: Reporting,
  { spec, periods }: { spec: Spec; periods: Periods },
): Promise<Answers> {
  // Facts: single records where these are few, or columns of them are read; else sums of them as far as they reach.
  const known = await knownIn(databases, { orgId, spec, periods, timeZone }, rollupsFrom);
  const reverted = needsReverts(spec) ? revertedOf(await databases.postgres(revertsQuery(orgId))) : [];

  // Plan and run: one statement for the rows of both periods, side by side, and their total.
  const { engine } = databases;
  const ask: Ask = { engine, orgId, spec, periods, reverted, byOwner, timeZone, ...known };
  const rows = await databases.records(planReport(ask));

  // Coverage: what the labels asked for do not reach back to.
  return {
    rows,
    coverage: await coverageIn(databases, ask, rollupsFrom),
    payers: await payersIn(databases, ask, rows),
    ceiling: await isCeiling(databases, ask),
  };
}

/** Whether the current window holds batches at interactive prices, which is more than they cost. */
async function isCeiling({ postgres, records }: Databases, ask: Ask): Promise<boolean> {
  const query = ceilingQuery(ask);
  if (query === null || (await postgres(query)).length === 0) return false;
  return hasBatches(await records(planReport(ofBatches(ask))));
}

/** A decomposition is of priced calls alone. Only where there are others are the people who made them counted again. */
async function payersIn(
  databases: Databases,
  ask: Ask,
  rows: readonly AnswerRow[],
): Promise<AnswerRow | null> {
  const { spec, periods } = ask;
  if (periods.previous === null || !spec.measures.includes("cost_decomposition") || !hasUnpriced(rows))
    return null;
  const total: Spec = { ...spec, dimensions: [], measures: ["cost_decomposition"] };
  const [row = null] = await databases.records(planReport({ ...ask, spec: total, countsPayers: true }));
  return row;
}

/** What is asked of: the database of records, and Postgres, which knows everything else. */
type Databases = { engine: Engine; records: AskDatabase; postgres: AskDatabase };

const reading = <T>({ postgres, clickhouse }: Reporting, work: (databases: Databases) => Promise<T>) =>
  clickhouse
    ? clickhouse.snapshot((records) =>
        work({ engine: CLICKHOUSE, records, postgres: (query) => postgres.snapshot((ask) => ask(query)) }),
      )
    : postgres.snapshot((ask) => work({ engine: POSTGRES, records: ask, postgres: ask }));

const EVER: Period = { fromMs: null, toMs: Date.UTC(9999, 0) };
const ALL_TIME: Periods = { current: EVER, previous: null };

type Asked = Pick<Ask, "orgId" | "spec" | "periods" | "timeZone">;

/** What a statement has to know beforehand: how far rollups reach, or, where there are none, the sessions of outcomes. */
async function knownIn(
  { engine, postgres }: Databases,
  asked: Asked,
  rollupsFrom: number,
): Promise<Pick<Ask, "reach" | "tasks" | "declared">> {
  if (engine === POSTGRES)
    return { reach: await reachIn(postgres, asked, rollupsFrom), tasks: null, declared: null };
  return {
    reach: null,
    declared: asksForExplanation(asked.spec) ? declaredOf(await postgres(declaredQuery(asked.orgId))) : null,
    tasks: asked.spec.source === "outcomes" ? tasksOf(await postgres(tasksQuery(asked))) : null,
  };
}

/** How far rollups reach; null where single records are read. Sessions of outcomes ran at any time. */
async function reachIn(database: AskDatabase, asked: Asked, rollupsFrom: number): Promise<Reach | null> {
  const { orgId, spec, periods, timeZone } = asked;
  if (spec.source !== "requests" && spec.source !== "outcomes") return null;
  const isOfRecords = spec.source === "requests";
  const survey = await database(surveyQuery(orgId, isOfRecords ? periods : ALL_TIME, rollupsFrom));
  const reach = reachOf(survey, rollupsFrom);
  if (!isOfRecords || reach === null || cutsAtHours(timeZone, periods)) return reach;
  // Sums know no part of an hour.
  if (isDropped(survey)) throw new GatewayError("invalid_request", OFF_THE_HOUR);
  return isZoned(asked) ? null : reach;
}

const OFF_THE_HOUR =
  "time_zone: differs from UTC by part of an hour, and single records of these days are no longer kept";

/** Whether days of the zone begin at whole hours of UTC, in all of the periods. No record is older than the gateway. */
function cutsAtHours(timeZone: string, { current, previous }: Periods): boolean {
  const fromMs = Math.min(current.fromMs ?? FIRST_MS, previous?.fromMs ?? current.fromMs ?? FIRST_MS);
  return timeZone === UTC || hasWholeHours(timeZone, Math.max(fromMs, FIRST_MS), current.toMs);
}
const FIRST_MS = Date.UTC(2020, 0);

/** Null where all labels asked for were recorded from the start. They may be older than the windows. */
async function coverageIn(databases: Databases, ask: Ask, rollupsFrom: number): Promise<Coverage | null> {
  if (lateLabels(ask.spec).length === 0) return null;
  const known = ask.reach ? ask : await knownIn(databases, { ...ask, periods: ALL_TIME }, rollupsFrom);
  const everything: Ask = { ...ask, ...known };
  const since = sinceOf(ask.spec, await databases.records(firstsQuery(everything)));
  if (!since) return null;
  return coverageOf(ask, since, await databases.records(planReport(olderRecords(everything, since))));
}

const needsReverts = ({ measures }: Spec): boolean =>
  measures.some((measure) => measure === "reverted_prs" || measure === "revert_rate");
