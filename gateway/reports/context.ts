import type { DimensionName, Spec } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, aggregateOf, type DistinctName } from "./aggregates.ts";
import { isFilteredByText, isTime, NONE, UTC } from "./dimensions.ts";
import type { Engine } from "./engines.ts";
import type { Declared } from "./explained.ts";
import { aggregatesOf } from "./measures.ts";
import { type Parameters, parameters } from "./parameters.ts";
import { type Cover, coverOf, type Reach } from "./rollup/cover.ts";
import { countedBy, EVERYTHING, isKind, type Kind } from "./rollup/kinds.ts";
import { filtersOf } from "./spec.ts";
import type { Period, Periods } from "./window.ts";

/**
 * What is asked of the records of an engine: a checked spec, its periods, the pull requests that are reverted (outcomes), and
 * how far rollups reach; null: they are not read.
 */
export type Ask = {
  engine: Engine;
  /** What is known of outcomes' sessions beforehand; null: the statement looks it up. */
  tasks: Tasks | null;
  /** Likewise of sessions whose calls are asked for by explanation. */
  declared: Declared | null;
  orgId: string;
  spec: Spec;
  periods: Periods;
  reverted: readonly string[];
  reach: Reach | null;
  /** Instead of persons with billed calls, those with a call of known cost are counted. Sums have no such count. */
  countsPayers?: true;
  /** A filter by subject means the owners of keys alone: what people see of themselves. */
  byOwner: boolean;
  /** In which days, weeks and months begin (shared/time-zone.ts). Sums are those of UTC, so it reads cells of hours. */
  timeZone: string;
};

/** Whether groups or filters are days, weeks or months of another zone than UTC. */
export const isZoned = ({
  spec: { dimensions, filters },
  timeZone,
}: Pick<Ask, "spec" | "timeZone">): boolean =>
  timeZone !== UTC && [...dimensions, ...filtersOf(filters).map(([name]) => name)].some(isTime);

/** Sessions that are linked to tasks, beside their own, and the tasks to which more calls belong than those of their sessions. */
export type Tasks = {
  linked: readonly { task: string; session: string; declarer: string }[];
  uncovered: readonly string[];
};

/** What all parts of one statement share; made once. */
export type Context = {
  ask: Ask;
  params: Parameters;
  /** The aggregates to compute: those of the measures, and those that show whether a row exists and its money is known. */
  names: readonly AggregateName[];
  /** What a fact is: a single record, or a cell, which sums up several. */
  facts: "records" | "cells";
  covers: { current: Cover; previous: Cover | null };
  /** By which dimension sums answer; null: they do not, and cells are read. */
  kind: Kind | null;
  /** Of whose records these sums are: a team's, or everything. */
  scope: string;
};

const NO_COVER: Cover = { sums: null, days: [], hours: [], raw: [] };

export function contextOf(ask: Ask): Context {
  const { spec, periods, reach } = ask;
  const names = namesOf(spec).map((name) =>
    ask.countsPayers && name === "billed_users" ? "priced_users" : name,
  );
  const params = parameters(ask.engine);
  // Outcomes are few; what is read from cells are their sessions (sources.ts).
  if (!reach || spec.source !== "requests") {
    const covers = { current: NO_COVER, previous: null };
    return { ask, params, names, facts: "records", covers, kind: null, scope: EVERYTHING };
  }
  const kind = isZoned(ask) ? null : kindOf(spec, names);
  const scope = scopeOf(spec);
  const sums = scope === EVERYTHING ? "hours" : "days";
  const cover = (period: Period) => coverOf(period, reach, kind === null ? null : sums);
  const covers = { current: cover(periods.current), previous: periods.previous && cover(periods.previous) };
  return { ask, params, names, facts: "cells", covers, kind, scope };
}

function namesOf({ source, measures }: Spec): AggregateName[] {
  const always: AggregateName[] = ["records", "uncertain"];
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
    return (counted !== "person" && counted !== "session") || countedBy(kind).includes(counted);
  });

/** The one team asked for: the records of several may overlap. */
function scopeOf({ filters }: Pick<Spec, "filters">): string {
  const [team = NONE, ...others] = new Set(filters.team);
  return others.length === 0 && team !== NONE ? team : EVERYTHING;
}

/** Rows that are made alike: the groups of these dimensions, or all in one (`total`), of the facts in a table. */
export type Section = { total: boolean; dimensions: readonly DimensionName[]; facts: string };

/** What an aggregate counts distinctly in this report. */
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
