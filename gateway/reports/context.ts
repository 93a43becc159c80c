import type { DimensionName, Spec } from "#shared/report.ts";
import { words } from "#shared/words.ts";
import { AGGREGATES, type AggregateName, aggregateOf, type DistinctName } from "./aggregates.ts";
import type { BucketKind } from "./buckets/columns.ts";
import { bucketKindOf, countsHours } from "./buckets/figures.ts";
import type { Published } from "./buckets/published.ts";
import { isFilteredByText, isOrdered, isTime, NONE, UTC } from "./dimensions.ts";
import type { Engine } from "./engines.ts";
import type { KnownPlaces } from "./explained.ts";
import { aggregatesOf } from "./measures.ts";
import { type Parameters, parameters } from "./parameters.ts";
import { type Cover, coverOf, type Reach } from "./rollup/cover.ts";
import { EVERYTHING, hasHours, isCountedBy, isKind, type Kind } from "./rollup/kinds.ts";
import { filtersOf } from "./spec.ts";
import type { Spread } from "./spread.ts";
import type { Period, Periods } from "./window.ts";

/**
 * What is asked of the records of an engine: a checked spec, its periods, the pull requests that are reverted (outcomes), and
 * how far rollups reach; null: they are not read.
 */
export type Ask = {
  engine: Engine;
  /** What is known of outcomes' sessions beforehand. */
  tasks: Tasks;
  /** What is known of sessions whose calls are asked for by explanation; null: the statement looks it up. */
  places: KnownPlaces | null;
  /** How what is billed and paid beforehand is spread over calls; absent: it is not asked for. */
  spread?: Spread;
  orgId: string;
  spec: Spec;
  periods: Periods;
  reverted: readonly string[];
  reach: Reach | null;
  /** Where ClickHouse has sums in the periods; null: single records are read. */
  published: Published | null;
  /** A filter by subject means the owners of keys alone: what people see of themselves. */
  byOwner: boolean;
  /** Of the rows with records in the current window, the first of them, at most this many; absent: `ROWS_MAX` of all rows. */
  rowsMax?: number;
  /** Every row is wanted: it leaves as a file. */
  allRows?: boolean | undefined;
  /** Beside these, or alone, rows are wanted whose billed calls in a window are all of unknown cost. */
  unpriced?: "too" | "alone";
  /** Outcomes are merges alone: reviews are not counted, nor make a group. */
  withoutReviews?: true;
  /** Since when its labels are recorded is not asked: all records are read for that. */
  withoutCoverage?: true;
  /** Sums by one dimension do not answer. */
  readsFacts?: true;
  /** What moved the cost is wanted, too (movement.ts). */
  moves?: true;
  /** Facts are for several reports (plan-together.ts). */
  isShared?: true;
  /** In which days, weeks and months begin (shared/time-zone.ts). Sums are those of UTC, so it reads cells of hours. */
  timeZone: string;
  /** Costs are those that were known then, of records from before; absent: the latest. Sums know no versions. */
  asOfMs?: number | undefined;
  /** The team that the spec is limited to for its reader, who is told nothing of records outside it. */
  scope?: string | null | undefined;
};

/** What is asked of a report beside its spec. */
export type HowAsked = Pick<Ask, "rowsMax" | "unpriced" | "withoutReviews" | "withoutCoverage" | "moves">;

/** Whether groups or filters are days, weeks or months of another zone than UTC. */
export const isZoned = ({
  spec: { dimensions, filters },
  timeZone,
}: Pick<Ask, "spec" | "timeZone">): boolean =>
  timeZone !== UTC && [...dimensions, ...filtersOf(filters).map(([name]) => name)].some(isTime);

/**
 * Sessions that are linked to tasks, beside their own, tasks to which more calls belong than those of their sessions, and
 * pull requests that do not have all calls of their task (drizzle/contexts.ts): what is taken off the whole, or, without
 * the rest, what is their own, with exact sums as text; an empty one is not known.
 */
export type Tasks = {
  linked: readonly { task: string; session: string; declarer: string }[];
  uncovered: readonly string[];
  split: readonly Record<(typeof SPLIT)[number], string>[];
  /** The present name of each repository that a filter calls otherwise. */
  called: ReadonlyMap<string, string>;
};
export const SPLIT = words("pull_request is_rest covered records uncertain fix_usd cost_usd");
export const NO_TASKS: Tasks = { linked: [], uncovered: [], split: [], called: new Map() };

/** What all parts of one statement share; made once. */
export type Context = {
  ask: Ask;
  params: Parameters;
  /** The aggregates to compute: those of the measures, and those that show whether a row exists and its money is known. */
  names: readonly AggregateName[];
  /** What a fact is: a single record, or a cell, which sums up several. */
  facts: "records" | "cells";
  /** Where facts are read that several reports share; absent: it reads its own. */
  factsFrom?: string;
  covers: { current: Cover; previous: Cover | null };
  /** By which dimension sums answer; null: they do not, and cells are read. */
  kind: Kind | null;
  /** By which dimension sums of ClickHouse answer; null: they do not. */
  buckets: BucketKind | null;
  /** Of whose records these sums are: a team's, or everything. */
  scope: string;
};

const NO_COVER: Cover = { sums: null, days: [], hours: [], raw: [] };

export function contextOf(ask: Ask, params: Parameters = parameters(ask.engine)): Context {
  const { spec, periods, reach } = ask;
  const names = namesOf(ask);
  // Outcomes are few; what is read from cells are their sessions (sources.ts).
  if (!reach || spec.source !== "requests") {
    const covers = { current: NO_COVER, previous: null };
    const all = withPayers(ask, names);
    const buckets = ask.published && !ask.readsFacts ? bucketKindOf(spec, all) : null;
    return { ask, params, names: all, facts: "records", covers, kind: null, buckets, scope: EVERYTHING };
  }
  const kind = isZoned(ask) || ask.readsFacts || reach.hasFew ? null : kindOf(spec, names);
  const scope = scopeOf(spec);
  const sums = scope === EVERYTHING && kind !== null && hasHours(kind) ? "hours" : "days";
  const cover = (period: Period) => coverOf(period, reach, kind === null ? null : sums);
  const covers = { current: cover(periods.current), previous: periods.previous && cover(periods.previous) };
  return {
    ask,
    params,
    names: kind === null ? withPayers(ask, names) : names,
    facts: "cells",
    covers,
    kind,
    buckets: null,
    scope,
  };
}

/** A decomposition is of priced calls alone. Sums do not know who made them (reporting.ts: `payersIn`). */
const withPayers = ({ spec, periods }: Ask, names: readonly AggregateName[]): readonly AggregateName[] =>
  spec.measures.includes("cost_decomposition") && periods.previous !== null
    ? [...new Set<AggregateName>([...names, "priced_users"])]
    : names;

function namesOf({ spec: { source, measures }, unpriced }: Ask): AggregateName[] {
  const always: AggregateName[] = [
    "records",
    "uncertain",
    ...(unpriced ? (["billed_records", "unpriced"] as const) : []),
  ];
  // Merges tell whether anything was spent on them.
  if (source === "outcomes") always.push("merged_prs");
  return [...new Set([...always, ...aggregatesOf(measures)])];
}

/**
 * The kind of sums that answers: the one dimension asked for beside times, or all in all. Filters choose cells; but one
 * team has sums of its own, and channels and values of the kind may choose sums, where nothing is counted distinctly.
 */
function kindOf({ dimensions, filters }: Spec, names: readonly AggregateName[]): Kind | null {
  const [kind = "total", ...others] = new Set(dimensions.filter((name) => !isTime(name)));
  if (others.length > 0 || !isKind(kind) || !countsAll(kind, names)) return null;
  const filtered = filtersOf(filters).map(([name]) => name);
  const chosen = filtered.filter((name) => name !== "team" || scopeOf({ filters }) === EVERYTHING);
  if (chosen.length === 0) return kind;
  const counts = names.some((name) => "distinct" in AGGREGATES[name]);
  return chosen.every((name) => name === "channel" || (name === kind && isFilteredByText(name))) && !counts
    ? kind
    : null;
}

/** Whether sums by a kind count everything distinct that a report asks for. */
const countsAll = (kind: Kind, names: readonly AggregateName[]): boolean =>
  names.every((name) => {
    const counted = aggregateOf(name).distinct?.name;
    if (counted === "payer") return false;
    return (counted !== "person" && counted !== "session") || isCountedBy(kind, counted);
  });

/** The one team asked for: the records of several may overlap. */
function scopeOf({ filters }: Pick<Spec, "filters">): string {
  const [team = NONE, ...others] = new Set(filters.team);
  return others.length === 0 && team !== NONE ? team : EVERYTHING;
}

/** Whether a total is not that of the groups' facts: a record with several tags, or an hour of sums, is in several groups, but once in all. */
export const totalIsApart = ({ ask: { spec }, buckets, names }: Context): boolean =>
  spec.dimensions.includes("tag") || (buckets !== null && hasKind(spec) && countsHours(names));

const hasKind = ({ dimensions, filters }: Spec): boolean =>
  dimensions.some((name) => !isOrdered(name)) && filtersOf(filters).length === 0;

/** Rows that are made alike: the groups of these dimensions, or all in one (`total`), of the facts in a table. */
export type Section = { total: boolean; dimensions: readonly DimensionName[]; facts: string };

/** The columns of a report's groups: `d1` and `d2`, and `d3` where three dimensions are asked for. */
export const groupNames = ({ dimensions }: Pick<Spec, "dimensions">): string[] =>
  groupTexts(dimensions).map((_, i) => `d${i + 1}`);
export const groupsOf = ({ ask }: Pick<Context, "ask">): string => groupNames(ask.spec).join(", ");
export const groupedBy = (context: Pick<Context, "ask">, { total }: Pick<Section, "total">): string =>
  total ? "current" : `current, ${groupsOf(context)}`;
/** Texts of groups, at least two. */
export const groupTexts = (texts: readonly string[], none = "''"): string[] => [
  ...texts,
  ...[none, none].slice(texts.length),
];

/** The groups of facts, or, where reports share them, one for each of their dimensions (`g1` and so on). */
export const groupColumns = ({ ask }: Context, groups: readonly string[], none = "''"): string =>
  (ask.isShared
    ? groups
    : [
        ...groups,
        ...groupTexts(ask.spec.dimensions)
          .slice(groups.length)
          .map(() => none),
      ]
  )
    .map((sql, i) => `${sql} as ${ask.isShared ? "g" : "d"}${i + 1}`)
    .join(", ");

export const distinctOf = (
  { ask }: Context,
  name: AggregateName,
): { name: DistinctName; sql: string; atOnce: string } | null => {
  const { distinct, ofMerges } = aggregateOf(name);
  return (ask.spec.source === "outcomes" && ofMerges) || distinct || null;
};

/** Everything that is counted distinctly. */
export const distinctNames = (context: Context): DistinctName[] => [
  ...new Set(context.names.flatMap((name) => distinctOf(context, name)?.name ?? [])),
];

/** Whether cells are read where no sums answer: these may be millions. */
export const isLong = ({ facts, kind }: Context): boolean => facts === "cells" && kind === null;
