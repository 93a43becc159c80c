import { type DimensionName, ROWS_MAX } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, MEASURE, type Measure } from "../measures.ts";
import {
  type Context,
  ENTITIES,
  ENTITY_NAMES,
  type Entity,
  hasManyGroups,
  isTimely,
  reachesOf,
} from "./context.ts";
import { OVER_CELLS } from "./parts.ts";

/**
 * Whether there may be so many groups that it pays to choose first which are shown, and to sum up no others: those of
 * sessions, and those of persons by something else.
 */
export function isRanked(context: Context): boolean {
  const { ask, dimensions } = context;
  // Records of several groups are multiplied at each reading.
  const once = !dimensions.includes("tag");
  // Times come first: with them a percentile says little about who is shown.
  const plain = ask.spec.measures[0] !== "latency_p95_ms" || !dimensions.some(isTimely);
  return hasManyGroups(dimensions) && once && plain && reachesOf(context).length === 0;
}

/** The groups that are shown, by the order that plan.ts says, made of nothing but what the order needs. */
export function rankedSql({ ask, dimensions }: Context): string {
  const [first = "requests"] = ask.spec.measures;
  const measure: Measure = MEASURE[first];
  const names = [...new Set([measure.of, ...(measure.kind === "per" ? [measure.per] : [])])];
  const times = dimensions.flatMap((name: DimensionName, i) => (isTimely(name) ? [`d${i + 1} asc`] : []));
  const entity = ENTITY_NAMES.find((one) => names.some((name) => isOf(one, name)));
  const before = measure.kind === "change" ? [`${over(measure.of, "not current")} as before`] : [];
  const summed = names.filter((name) => !ENTITY_NAMES.some((one) => isOf(one, name)));
  const sums = [...summed.map((name) => `${over(name, "current")} as ${name}`), ...before];
  const [inner, outer] = entity
    ? [
        byEntity(entity, sums),
        [...summed, ...before.map(() => "before")].map((name) => `sum(${name}) as ${name}`),
      ]
    : ["facts", sums];
  const counted = entity
    ? names.filter((name) => isOf(entity, name)).map((name) => `${counts(entity, name)} as ${name}`)
    : [];
  return `
  select d1, d2 from (
    select d1, d2, bool_or(${entity ? "now" : "current"}) as now, ${[...outer, ...counted].join(", ")}
    from ${inner} group by d1, d2
  ) g order by ${[...times, `${rankSql(measure)} desc nulls last`, "d1 asc", "d2 asc"].join(", ")} limit ${ROWS_MAX}`;
}

const isOf = (entity: Entity, name: AggregateName): boolean =>
  name === ENTITIES[entity].all || name === ENTITIES[entity].billed;

/** An aggregate of the facts on one side. */
function over(name: AggregateName, side: string): string {
  const sql = OVER_CELLS[name] ?? "null";
  return sql.includes("filter")
    ? sql.replace("where billed", `where billed and ${side}`)
    : `${sql} filter (where ${side})`;
}

/** A row for each person or session of a group. */
function byEntity(entity: Entity, sums: readonly string[]): string {
  const { column } = ENTITIES[entity];
  const own =
    entity === "hour"
      ? "bit_or(hours) filter (where current) as hours, bit_or(hours) filter (where current and billed) as billed_hours"
      : "bool_or(current and billed) as billed";
  return `(
      select d1, d2, ${column} as text, bool_or(current) as now, ${[own, ...sums].join(", ")}
      from facts group by d1, d2, ${column}${entity === "hour" ? ", day" : ""}
    ) e`;
}

function counts(entity: Entity, name: AggregateName): string {
  const billed = name === ENTITIES[entity].billed;
  if (entity !== "hour") return `count(*) filter (where text is not null and ${billed ? "billed" : "now"})`;
  return `sum(bit_count(${billed ? "billed_hours" : "hours"}::bit(24))) filter (where text is not null)`;
}

function rankSql(measure: Measure): string {
  const known = (name: AggregateName) =>
    AGGREGATES[name].money ? name : `case when now then coalesce(${name}, 0) end`;
  switch (measure.kind) {
    case "base":
    case "share":
      return known(measure.of);
    case "per":
      return `(${known(measure.of)})::numeric / nullif(${known(measure.per)}, 0)`;
    case "change":
      return `${known(measure.of)} - coalesce(before, 0)`;
  }
}
