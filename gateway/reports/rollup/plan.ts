import type { DimensionName } from "#shared/report.ts";
import { AGGREGATES, type AggregateName, aggregatesOf } from "../measures.ts";
import { parameters, type Query } from "../parameters.ts";
import { type Ask, shownSql } from "../plan.ts";
import { filtersOf } from "../spec.ts";
import type { Period } from "../window.ts";
import { type Context, ENTITIES, ENTITY_NAMES, isAsked, isTimely, reachesOf, sectionsOf } from "./context.ts";
import { coverOf, type Survey } from "./cover.ts";
import { activeInAll, activePart, activeSql, hoursPart, whoOf } from "./distinct.ts";
import { factsSql } from "./facts.ts";
import { isKind, type Kind, QUARTER_KINDS } from "./kinds.ts";
import { p95Sql } from "./latencies.ts";
import { sumPartsOf } from "./one-dimension.ts";
import { baseSql, isApart, OVER_CELLS, sumsByGroup, sumsOfBase } from "./parts.ts";
import { isRanked, rankedSql } from "./ranked.ts";
import { rankedByP95 } from "./ranked-by-p95.ts";

const P95 = "latency_p95_ms";
const COUNTED: readonly string[] = ENTITY_NAMES.flatMap((entity) => [
  ENTITIES[entity].all,
  ENTITIES[entity].billed,
]);

/**
 * A report of source `requests` over rollups: the rows of a plan over single records, and its total as the one row whose
 * `is_total` is true. `coverage` is apart.
 */
export function planRolled(ask: Ask, survey: Survey): Query {
  const context = contextOf(ask, survey);
  const { dimensions, names, params } = context;
  const ranked = isRanked(context);
  // A record with several tags is in several groups, and one of groups that are not shown in none.
  const places = { groups: "facts", total: dimensions.includes("tag") || ranked ? "facts_all" : "facts" };
  // There may be far more groups than rows are shown: their percentiles wait, but where the order needs them.
  const first = ask.spec.measures[0] === P95;
  const ctes = [
    ...factsOf(context, places),
    ...(ranked ? rankedOf(context, first) : []),
    ...sumsOf(context, places, ranked),
    cellsOf(context, first),
    "group_cells as (select * from cells where not total)",
    "total_cells as (select * from cells where total)",
    `shown as (${shownSql(dimensions, ask.spec.measures)}
)`,
  ];
  const columns = first ? "x.*" : columnsWithPercentiles(names);
  const text = `with ${ctes.join(",\n")}
select x.total::text as is_total, ${columns} from shown x order by x.total, x.place`;
  return { text, params: params.values, alone: reachesOf(context).length > 0 };
}

type Places = { groups: string; total: string };

/** The facts of the groups and of the total. */
function factsOf(context: Context, places: Places): string[] {
  const { dimensions, kind } = context;
  const apart = isApart(context);
  const of = (name: string, own: Context) =>
    name === "facts" ? factsSql(own, dimensions, kind) : factsSql(own, [], null);
  // Where rows are chosen first, they are by sums of the facts.
  const who = apart && !isRanked(context) ? { ...context, columns: [] } : context;
  return [...new Set(Object.values(places))].flatMap((name) => [
    `${name} as not materialized (${of(name, who)}\n)`,
    ...(apart ? [`${name}_alike as not materialized (${of(name, { ...context, entities: [] })}\n)`] : []),
  ]);
}

/** Which groups are shown, and their facts. */
const rankedOf = (context: Context, byP95: boolean): string[] => [
  ...(byP95 ? rankedByP95(context) : [`ranked as materialized (${rankedSql(context)}\n)`]),
  `facts_ranked as not materialized (
  select f.* from (${factsSql(context, context.dimensions, context.kind, "ranked")}
  ) f where (f.d1, f.d2) in (select d1, d2 from ranked)
)`,
];

function sumsOf(context: Context, places: Places, ranked: boolean): string[] {
  const { columns, entities } = context;
  const apart = isApart(context);
  const base = (name: string) => {
    const chosen = ranked && name === "facts";
    const from = chosen ? "facts_ranked" : name;
    return [
      `base_of_${name} as materialized (${baseSql(context, apart ? [] : columns, from)}\n)`,
      ...(apart
        ? [`sums_of_${name} as materialized (${sumsByGroup(context, chosen ? from : `${name}_alike`)}\n)`]
        : []),
    ];
  };
  const sections = sectionsOf(context);
  // Who is in a group is in all, where both are made of the same facts.
  const shared = sections.length > 1 && places.groups === places.total;
  const active = sections
    .filter(({ total }) => !(total && shared))
    .flatMap((section) =>
      whoOf(context).map((entity) => {
        const place = section.total ? places.total : places.groups;
        return `${entity}s_of_${place} as materialized (${activeSql(context, section, entity, `base_of_${place}`)}\n)`;
      }),
    );
  const parts = sections.flatMap((section) => {
    const place = section.total ? places.total : places.groups;
    const count = section.total && shared ? activeInAll : activePart;
    return [
      sumsOfBase(context, section, `${apart ? "sums" : "base"}_of_${place}`),
      ...whoOf(context).map((entity) => count(context, section, entity, `${entity}s_of_${place}`)),
      ...(entities.includes("hour") ? [hoursPart(context, section, `base_of_${place}`)] : []),
      ...sumPartsOf(context, section),
    ];
  });
  const counted = entities.flatMap((entity) => [ENTITIES[entity].all, ENTITIES[entity].billed]);
  const summed = [...columns, ...counted].map((name) => `sum(${name}) as ${name}`);
  return [
    ...[...new Set(Object.values(places))].flatMap(base),
    ...active,
    `parts as (${parts.join("\n  union all\n")}
)`,
    `sums as (
  select total, current, d1, d2, ${summed.join(", ")}
  from parts group by total, current, d1, d2
)`,
  ];
}

function cellsOf({ names }: Context, first: boolean): string {
  const columns = names.map((name) => `${finalSql(name, first)} as ${name}`);
  return `cells as (
  select s.total, s.current, s.d1, s.d2, ${[...columns, "coalesce(s.uncertain, 0) > 0 as floor"].join(", ")}
  from sums s where s.records > 0
)`;
}

function contextOf(ask: Ask, survey: Survey): Context {
  const { dimensions, measures } = ask.spec;
  const names = aggregatesOf(measures);
  const kind = kindOf(ask, dimensions, names);
  const quartered = kind !== null && QUARTER_KINDS.includes(kind) ? survey.quarteredMs : [];
  const cover = (period: Period) => coverOf(period, survey, kind !== null, quartered);
  const { current, previous } = ask.periods;
  // What tells whether a group is there, and whether its money is known, is always summed.
  const columns = new Set<string>([
    "records",
    "uncertain",
    ...names,
    ...(names.includes(P95) ? ["latencies"] : []),
  ]);
  return {
    ask,
    dimensions,
    params: parameters(),
    kind,
    covers: { current: cover(current), previous: previous && cover(previous) },
    weeksToMs: survey.weeksToMs,
    isPacked: survey.isPacked,
    names,
    columns: [...columns].filter((name) => name in OVER_CELLS),
    entities: ENTITY_NAMES.filter((entity) => isAsked(entity, names)),
  };
}

/** The percentile, where rows are not shown in its order, is at first the latencies that it is made of. */
function finalSql(name: AggregateName, first: boolean): string {
  if (name === P95) return first ? p95Sql("s.latencies::text") : "s.latencies";
  return AGGREGATES[name].money ? `s.${name}` : `coalesce(s.${name}, 0)`;
}

function columnsWithPercentiles(names: readonly AggregateName[]): string {
  const column = (name: string) =>
    name.endsWith(P95) ? `${p95Sql(`x.${name}`)}::text as ${name}` : `x.${name}`;
  const sides = ["c", "p"].flatMap((side) =>
    [`found`, `floor`, ...names].map((name) => column(`${side}_${name}`)),
  );
  return ["x.d1", "x.d2", ...sides].join(", ");
}

/**
 * The kind of sums that answers: the one dimension asked for beside times, or all in all. Filters choose cells; but one
 * by channel may choose sums, where nothing is counted distinctly.
 */
function kindOf(
  { spec }: Ask,
  dimensions: readonly DimensionName[],
  names: readonly AggregateName[],
): Kind | null {
  const [kind = "total", ...others] = new Set(dimensions.filter((name) => !isTimely(name)));
  if (others.length > 0 || !isKind(kind)) return null;
  const filters = filtersOf(spec.filters).map(([name]) => name);
  if (filters.length === 0) return kind;
  const distinct = names.some((name) => COUNTED.includes(name));
  return filters.every((name) => name === "channel") && !distinct ? kind : null;
}
