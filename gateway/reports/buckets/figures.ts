import type { DimensionName, Spec } from "#shared/report.ts";
import { type AggregateName, aggregateOf, isInCells } from "../aggregates.ts";
import { hasCells, isOrdered, isTime, UTC } from "../dimensions.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { type BucketKind, isOfTools, isSummed, kindBy } from "./columns.ts";

const statusSql = (status: string, billed = ""): string =>
  `coalesce(sum(records) filter (where ${billed}status = '${status}'), 0)`;

/** Figures that are counted, over rows of sums and single records. */
const COUNTED: Partial<Record<AggregateName, string>> = {
  users: "uniqExactArray(people)",
  billed_users: "uniqExactArray(people) filter (where billed)",
  priced_users: "uniqExactArray(payers) filter (where billed)",
  sessions: "uniqExactArray(sessions)",
  billed_sessions: "uniqExactArray(sessions) filter (where billed)",
  active_hours: "coalesce(sum(active_hours), 0) + uniqExact(run, hour)",
  billed_hours:
    "coalesce(sum(active_hours) filter (where billed), 0) + coalesce(uniqExact(run, hour) filter (where billed), 0)",
  latency_p50_ms: "round(quantileExactWeightedInterpolatedArray(0.5)(ms, calls), 2)",
  latency_p95_ms: "round(quantileExactWeightedInterpolatedArray(0.95)(ms, calls), 2)",
  ...Object.fromEntries(
    (["ok", "failed", "unknown", "denied", "pending"] as const).map((name) => [name, statusSql(name)]),
  ),
  billed_ok: statusSql("ok", "billed and "),
};

/** An aggregate over facts of `bucketFacts`. Cells and tools' sums have each latency, which takes a third of the time of weighted ones. */
export const bucketFigure = (kind: BucketKind | null, name: AggregateName): string => {
  const figure = COUNTED[name] ?? aggregateOf(name).cells ?? "null";
  return kind === "cells" || isOfTools(kind)
    ? figure.replace("WeightedInterpolatedArray", "InclusiveArray").replace("(ms, calls)", "(ms)")
    : figure;
};

/** The kind of sums that answers a report: that of its dimensions beside times, and of its filters; else cells. Null: single records answer. */
export function bucketKindOf(spec: Spec, names: readonly AggregateName[]): BucketKind | null {
  const { source, dimensions, filters } = spec;
  const chosen = filtersOf(filters);
  if (countsHours(names) && chosen.some(([, values]) => new Set(values).size > 1)) return null;
  const grouped = dimensions.filter((name) => !isOrdered(name));
  const by = (filtered: readonly DimensionName[]) =>
    isSummed(source) ? kindBy(source, grouped, filtered) : null;
  const filtered = chosen.map(([name]) => name);
  // Sums know the subscription lane, but of an hour they count only who was not billed in it as well.
  const isOfLane = asksForLane(spec) && !countsHours(names);
  const kind = by(filtered) ?? (isOfLane ? by(filtered.filter((name) => name !== "channel")) : null);
  if (!names.every((name) => name in COUNTED || isInCells(name))) return null;
  const isOfCells = [...dimensions, ...filtered].every((name) => name !== "explanation" && hasCells(name));
  return kind ?? (source === "requests" && isOfCells && !countsHours(names) ? "cells" : null);
}

/** Whether hours are counted, of which one may be in several groups: they add up within a group alone. */
export const countsHours = (names: readonly AggregateName[]): boolean =>
  names.includes("active_hours") || names.includes("billed_hours");

/** Whether days of UTC are of no use: hours of the day are asked for, or days of another zone. */
export const needsHours = ({ dimensions }: Spec, timeZone: string): boolean =>
  dimensions.some((name) => isOrdered(name) && (!isTime(name) || timeZone !== UTC));
