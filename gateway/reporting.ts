import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Movement } from "#shared/movement.ts";
import type { Coverage, Result, Spec } from "#shared/report.ts";
import { type AnswerRow, type Answers, assemble, isEmpty } from "./reports/assemble.ts";
import { budgetsFor } from "./reports/budgets.ts";
import { hasCeiling } from "./reports/ceiling.ts";
import type { Ask, HowAsked } from "./reports/context.ts";
import { coverageOf, firstsQuery, lateLabels, olderRecords, sinceOf } from "./reports/coverage.ts";
import { UTC } from "./reports/dimensions.ts";
import { askOf, pagesIn } from "./reports/each-page.ts";
import { CLICKHOUSE, POSTGRES } from "./reports/engines.ts";
import { movementIn } from "./reports/movement.ts";
import { hasUnpricedPeople, lacksPayers } from "./reports/payers.ts";
import { planReport } from "./reports/plan.ts";
import { isShareable, planTogether } from "./reports/plan-together.ts";
import { ALL_TIME, type AskDatabase, type Databases, knownIn, recordsOf } from "./reports/reach.ts";
import { type Periods, periodsOf } from "./reports/window.ts";
import {
  openReportRecords,
  openReportStore,
  type ReportRecords,
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
  /** Several at once, of one snapshot of Postgres, and those that are asked by what these answered. One that fails fails all. */
  runAll(
    wanted: readonly WantedReport[],
    now: Date,
    how?: Partial<Reading> & { then?: (results: readonly ResultWithEmpty[]) => readonly WantedReport[] },
  ): Promise<ResultWithEmpty[]>;
  /** Every row of a checked spec, a page at a time: each is a result with the total and the rows of its page. */
  eachPage(spec: Spec, now: Date, how: Partial<Reading> & { take(page: Result): void }): Promise<void>;
  close(): Promise<void>;
};

/** A checked spec, and which of its rows are wanted. Those of people with `unpriced` are of the same calls as all others. */
type WantedReport = Pick<Ask, "spec"> & HowAsked;

/** `byOwner`: a filter by subject means the owners of keys alone. `timeZone`: the zone of days, weeks and months. */
type Reading = Pick<Ask, "byOwner" | "timeZone" | "asOfMs" | "allRows" | "scope">;

/** `empty`: the report's windows have no records. `ceiling`: its cost is at most this, for it holds whole batches. */
export type ResultWithEmpty = Result & { empty: boolean; ceiling: boolean; rate_mix_volume?: Movement };

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
      const [answered] = await reports({ ...reporting, ...how }, [{ spec }], now);
      if (!answered) throw new Error("A report has no answer.");
      const { empty: _, ceiling: __, ...result } = answered;
      return result;
    },
    runAll: (wanted, now, how) => reports({ ...reporting, ...how }, wanted, now),
    eachPage: (spec, now, { take, ...how }) => {
      const all = { ...reporting, ...how, allRows: true };
      return reading(all, (databases) => pagesIn(databases, all, { spec, now, take }));
    },
    close: async () => {
      await Promise.all([postgres.close(), clickhouse?.close()]);
    },
  };
}

type Reporting = Reading & {
  then?: (results: readonly ResultWithEmpty[]) => readonly WantedReport[];
  postgres: ReportStore;
  /** Null: records are read from Postgres, as they are while it lacks some. */
  clickhouse: ReportRecords | null;
  orgId: string;
  rollupsFrom: number;
};

/** From specs to results. Read it top to bottom, and then `answersIn`: that is the order in which things happen. */
async function reports(
  { then, ...reporting }: Reporting,
  wanted: readonly WantedReport[],
  now: Date,
): Promise<ResultWithEmpty[]> {
  // All statements read one snapshot of Postgres, so that rows, totals and reports cannot disagree.
  return await reading(reporting, async (databases) => {
    const results = await resultsIn(databases, reporting, { wanted, now });
    const more = then?.(results) ?? [];
    return more.length === 0
      ? results
      : [...results, ...(await resultsIn(databases, reporting, { wanted: more, now }))];
  });
}

async function resultsIn(
  databases: Databases,
  reporting: Reporting,
  { wanted, now }: { wanted: readonly WantedReport[]; now: Date },
): Promise<ResultWithEmpty[]> {
  // Windows: the current period of each, and the one to compare it with.
  const asked = wanted.map((one) => ({
    ...one,
    periods: periodsOf(one.spec.range, one.spec.compare, { ...reporting, now }),
  }));
  const answers = await answersIn(databases, reporting, asked);
  const budgets = await budgetsFor(databases.postgres, asked, { ...reporting, now });
  // Compare and assemble: exact figures, their changes, shares and lower bounds, and why the cost changed.
  return answers.flatMap((answer, i) => {
    const one = asked[i];
    if (!one) return [];
    const result = assemble(one.spec, one.periods, { ...answer, budgets: budgets[i] });
    return [
      {
        ...result,
        rows: result.rows.slice(0, one.rowsMax),
        empty: isEmpty(answer),
        ceiling: answer.ceiling,
        ...(answer.moved && { rate_mix_volume: answer.moved }),
      },
    ];
  });
}

async function answersIn(
  databases: Databases,
  reporting: Reporting,
  asked: readonly (WantedReport & { periods: Periods })[],
): Promise<(Answers & { moved?: Movement })[]> {
  const { rollupsFrom } = reporting;
  const asks: Ask[] = [];
  for (const one of asked) asks.push(await askOf(databases, reporting, one));
  // Plan and run: one statement for the rows of both periods, side by side, and their total.
  const rowsOf = await rowsIn(databases, asks);

  const answers: (Answers & { moved?: Movement })[] = [];
  for (const ask of asks) {
    const rows = rowsOf.get(ask) ?? [];
    answers.push({
      rows,
      // Coverage: what the labels asked for do not reach back to.
      coverage: await coverageIn(databases, ask, rollupsFrom),
      payers: await payersIn(databases, ask, rowsOf),
      ceiling: await hasCeiling(databases, ask),
      ...(ask.moves && { moved: await movementIn(databases, ask, rollupsFrom) }),
    });
  }
  return answers;
}

/** The rows of each report. Those that read the same facts are one statement. */
async function rowsIn(databases: Databases, asks: readonly Ask[]): Promise<Map<Ask, readonly AnswerRow[]>> {
  const { alone = [], together = [] } = Object.groupBy(asks, (ask) =>
    isShareable(ask) ? "together" : "alone",
  );
  const groups = Map.groupBy(together, ({ spec: { source, filters }, periods: { current }, reach }) =>
    JSON.stringify([source, filters, current, reach === null]),
  );
  const made = new Map<Ask, readonly AnswerRow[]>();
  for (const [first, ...others] of [...alone.map((ask) => [ask]), ...groups.values()]) {
    if (!first) continue;
    const records = recordsOf(databases, first);
    if (others.length === 0) made.set(first, await records(planReport(first)));
    else {
      const rows = Map.groupBy(await records(planTogether([first, ...others])), (row) => Number(row["part"]));
      for (const [place, ask] of [first, ...others].entries()) made.set(ask, rows.get(place) ?? []);
    }
  }
  return made;
}

/**
 * A decomposition is of priced calls alone. Sums do not know who made these: that differs from who made calls only where all
 * calls of somebody are of unknown cost, and only then are people counted again.
 */
async function payersIn(databases: Databases, ask: Ask, rowsOf: ReadonlyMap<Ask, readonly AnswerRow[]>) {
  const { spec, periods } = ask;
  const records = recordsOf(databases, ask);
  const isDecomposed = periods.previous !== null && spec.measures.includes("cost_decomposition");
  if (!isDecomposed || !lacksPayers(rowsOf.get(ask) ?? [])) return null;
  const people: Ask = {
    ...ask,
    spec: { ...spec, dimensions: ["subject"], measures: ["unpriced_requests"] },
    unpriced: "alone",
  };
  const [told] = [...rowsOf].filter(([{ unpriced }]) => unpriced === "too");
  if (!hasUnpricedPeople(told?.[1] ?? (await records(planReport(people))))) return null;
  const total: Spec = { ...spec, dimensions: [], measures: ["cost_decomposition"] };
  const [row = null] = await records(planReport({ ...ask, spec: total, readsFacts: true }));
  return row;
}

/** Versions of records are in Postgres alone. */
const reading = async <T>(
  { postgres, clickhouse, asOfMs }: Reporting,
  work: (databases: Databases) => Promise<T>,
): Promise<T> =>
  clickhouse && asOfMs === undefined && (await clickhouse.isWhole(postgres))
    ? await clickhouse.snapshot((records) =>
        work({ engine: CLICKHOUSE, records, postgres: (query) => postgres.snapshot((ask) => ask(query)) }),
      )
    : await postgres.snapshot((database) => {
        // Of one snapshot the same question has the same answer.
        const known = new Map<string, ReturnType<AskDatabase>>();
        const ask: AskDatabase = (query) => {
          const key = JSON.stringify([query.text, query.params]);
          const answer = known.get(key) ?? database(query);
          known.set(key, answer);
          return answer;
        };
        if (database.pages) ask.pages = database.pages;
        return work({ engine: POSTGRES, records: ask, postgres: ask });
      });

/** Null where all labels asked for were recorded from the start. They may be older than the windows. */
async function coverageIn(databases: Databases, ask: Ask, rollupsFrom: number): Promise<Coverage | null> {
  if (ask.withoutCoverage || lateLabels(ask.spec).length === 0) return null;
  const isKnown = ask.reach !== null && ask.spec.source !== "outcomes";
  const known = isKnown ? ask : await knownIn(databases, { ...ask, periods: ALL_TIME }, rollupsFrom);
  const published = ask.spec.source === "outcomes" ? ask.published : null;
  const everything: Ask = { ...ask, ...known, published };
  const records = recordsOf(databases, everything);
  const since = sinceOf(ask.spec, await records(firstsQuery(everything)));
  if (!since) return null;
  return coverageOf(ask, since, await records(planReport(olderRecords(everything, since))));
}
