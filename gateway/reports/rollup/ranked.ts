import { type DimensionName, ROWS_MAX } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, MEASURE, type Measure } from "../measures.ts";
import {
  type Context,
  ENTITIES,
  ENTITY_NAMES,
  type Entity,
  hasManyGroups,
  hasRuns,
  isByP95,
  isTimely,
  P95,
  reachesOf,
} from "./context.ts";
import { isFine } from "./kinds.ts";
import { OVER_CELLS } from "./parts.ts";
import { countingHours } from "./several.ts";

/**
 * Whether there may be so many groups that it pays to choose first which are shown, and to sum up no others: those of
 * sessions; of persons by model, route or time, or where their sessions are told apart, or percentiles choose; and of keys
 * by model or route, where each would need a histogram. All others are summed up in no more time than it takes to choose.
 */
export function isRanked(context: Context): boolean {
  const { ask, dimensions, entities, names } = context;
  const apart = hasRuns(entities) && !countingHours(ask, dimensions);
  const fine = dimensions.some(isFine);
  const dear = apart || fine || dimensions.some(isTimely) || isByP95(ask);
  const byKey = dimensions.includes("key") && fine && names.includes(P95);
  // Records of several groups are multiplied at each reading; those of chosen sessions are few.
  const once = !dimensions.includes("tag") || dimensions.includes("session");
  // Times come first: with them a percentile says little about who is shown.
  const plain = !isByP95(ask) || !dimensions.some(isTimely);
  const many = dimensions.includes("session") || (hasManyGroups(dimensions) && dear) || byKey;
  return many && once && plain && reachesOf(context).length === 0;
}

/** What the order of rows needs to know of them. */
function rankingNames({ ask }: Context): { measure: Measure; names: AggregateName[] } {
  const [first = "requests"] = ask.spec.measures;
  const measure: Measure = MEASURE[first];
  return { measure, names: [...new Set([measure.of, ...(measure.kind === "per" ? [measure.per] : [])])] };
}

/** The first rows of groups `g` that have these names and `now`, and of a change `was` and `before`. */
const firstOf = ({ dimensions }: Context, measure: Measure, groups: string): string => {
  const times = dimensions.flatMap((name: DimensionName, i) => (isTimely(name) ? [`d${i + 1} asc`] : []));
  return `
  select d1, d2 from (${groups}
  ) g order by ${[...times, `${rankSql(measure)} desc nulls last`, "d1 asc", "d2 asc"].join(", ")} limit ${ROWS_MAX}`;
};

/** The groups that are shown, by the order that plan.ts says, of `parts` that add up to what it needs (`partSql`). */
export function rankedOfParts(context: Context, parts: readonly string[]): string {
  const { measure, names } = rankingNames(context);
  const sums = names.map((name) => `sum(${name}) filter (where current) as ${name}`);
  const before = beforeOf(measure, `sum(${measure.of}) filter (where not current)`);
  return firstOf(
    context,
    measure,
    `
    select ${["d1", "d2", "bool_or(current) as now", ...sums, ...before].join(", ")}
    from (${parts.join("\n    union all")}
    ) p group by d1, d2`,
  );
}

/** The same, made of facts and nothing but what the order needs; `tables`: each has all facts of its groups. */
export function rankedSql(context: Context, tables: readonly string[] = ["ranking"]): string {
  const { measure, names } = rankingNames(context);
  const entity = ENTITY_NAMES.find((one) => names.some((name) => isOf(one, name)));
  const summed = names.filter((name) => !ENTITY_NAMES.some((one) => isOf(one, name)));
  const sums = summed.map((name) => `${over(name, "current")} as ${name}`);
  const counted = names.filter((name) => entity && isOf(entity, name));
  // In a group of sessions there is one.
  const isOne = entity === "session" && context.dimensions.includes("session");
  const [inner, now, outer] =
    entity && !isOne
      ? [
          byEntity(entity, sums),
          "now",
          [
            ...summed.map((name) => `sum(${name}) as ${name}`),
            ...counted.map((name) => counts(entity, name)),
          ],
        ]
      : [
          (table: string) => table,
          "current",
          [...sums, ...counted.map(countsOne), ...beforeOf(measure, over(measure.of, "not current"))],
        ];
  return firstOf(
    context,
    measure,
    tables
      .map(
        (table) => `
    select d1, d2, bool_or(${now}) as now, ${outer.join(", ")}
    from ${inner(table)} group by d1, d2`,
      )
      .join("\n    union all"),
  );
}

/** Of a change, which counts nobody: what was there before, and whether anything was. */
const beforeOf = ({ kind }: Measure, sum: string): string[] =>
  kind === "change" ? [`bool_or(not current) as was, ${sum} as before`] : [];

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
const byEntity =
  (entity: Entity, sums: readonly string[]) =>
  (table: string): string => {
    const { column } = ENTITIES[entity];
    const own =
      entity === "hour"
        ? "bit_or(hours) filter (where current) as hours, bit_or(hours) filter (where current and billed) as billed_hours"
        : "bool_or(current and billed) as billed";
    return `(
      select d1, d2, ${column} as text, bool_or(current) as now, ${[own, ...sums].join(", ")}
      from ${table} group by d1, d2, ${column}${entity === "hour" ? ", day" : ""}
    ) e`;
  };

function counts(entity: Entity, name: AggregateName): string {
  const billed = name === ENTITIES[entity].billed;
  const filter = "filter (where text is not null";
  return entity === "hour"
    ? `sum(bit_count(${billed ? "billed_hours" : "hours"}::bit(24))) ${filter}) as ${name}`
    : `count(*) ${filter} and ${billed ? "billed" : "now"}) as ${name}`;
}

const countsOne = (name: AggregateName): string =>
  `bool_or(run is not null and current${name === ENTITIES.session.billed ? " and billed" : ""})::int as ${name}`;

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
      return `${known(measure.of)} - case when was then before else 0 end`;
  }
}
