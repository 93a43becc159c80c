import { AGGREGATES, type AggregateName } from "../measures.ts";
import { type Parameters, parameters, type Query } from "../parameters.ts";
import { type Ask, shownSql } from "../plan.ts";
import type { People } from "./bits.ts";
import { chosenSql, factsOfGroups, type Group } from "./chosen.ts";
import { type Context, countsOf, hasRuns, isByP95, P95, reachesOf, type Section } from "./context.ts";
import { contextOf } from "./context-of.ts";
import { countedFacts, countedParts, countedSums, isCounted } from "./counted.ts";
import type { Survey } from "./cover.ts";
import { activeInAll, activePart, activeSql, hoursPart, whoOf } from "./distinct.ts";
import { factsOfHalves, HALVES, type Halves } from "./halves.ts";
import { lastHoursSql } from "./last-hours.ts";
import { p95Sql } from "./latencies.ts";
import { isListed, listedFacts } from "./listed.ts";
import { sumPartsOf } from "./one-dimension.ts";
import { baseSql, isApart, sumsByGroup, sumsOfBase } from "./parts.ts";
import { pickedOf, pickedSql } from "./picked.ts";
import { isRanked, rankedOfParts, rankedSql } from "./ranked.ts";
import { rankedByP95 } from "./ranked-by-p95.ts";
import { severalSql } from "./several.ts";

/**
 * A report of source `requests` over rollups. Where there may be far more groups than rows are shown, `choose` tells first
 * which these are, as rows of `Group`, if all cells have to be read once more for them: from a statement of its own several
 * processes may do that. `answer` gives the rows of a plan over single records, and its total as the one row whose
 * `is_total` is true. `coverage` is apart.
 */
export type RolledPlan = { choose: Query | null; answer(chosen: readonly Group[] | null): Query };

/** What is asked for first: the persons of peopleQuery, and what halvesQuery tells. */
export type Known = { people: People; halves: Halves };

export function planRolled(ask: Ask, survey: Survey, known: Known): RolledPlan {
  const context = contextOf(ask, survey, ask.spec.dimensions, parameters());
  return {
    choose: isRanked(context) && isReadAnew(context) ? chooseQuery(ask, survey, known) : null,
    answer: (chosen) => answerQuery(ask, survey, known, chosen),
  };
}

/** Cells of sessions are found by an index, and what filters leave is read where it stands. */
const isReadAnew = (context: Context): boolean =>
  !context.dimensions.includes("session") && pickedOf(context, "rollup_cells") === null;

/** The groups that are shown. */
function chooseQuery(ask: Ask, survey: Survey, known: Known): Query {
  const params = parameters();
  const place = rankingOf(ask, survey, known.people, params);
  const ctes = [...severalOf([place]), ...rankedOf(place, known.halves)];
  const text = `with ${ctes.join(",\n")}
select d1, d2 from ranked`;
  return { text, params: params.values, alone: false, long: true };
}

/** Groups and total; of the `chosen` groups alone, where these were asked for first. */
function answerQuery(
  ask: Ask,
  survey: Survey,
  { people, halves }: Known,
  chosen: readonly Group[] | null,
): Query {
  const params = parameters();
  const context = contextOf(ask, survey, ask.spec.dimensions, params, { people });
  const { dimensions, kind, names } = context;
  const ranked = isRanked(context);
  const groups: Place = { name: "facts", context, section: { total: false, dimensions, kind }, ranked };
  const total = totalOf(groups, kind === null ? contextOf(ask, survey, [], params, { people }) : context);
  // There may be far more groups than rows are shown: their percentiles wait, but where the order needs them.
  const first = isByP95(ask);
  const places = [...(dimensions.length > 0 ? [groups] : []), ...(total ? [total] : [])];
  const summed = places.find((place) => place.context.kind !== null);
  const ranking = ranked && chosen === null ? [rankingOf(ask, survey, people, params)] : [];
  const ctes = [
    ...(summed ? lastHoursSql(summed.context) : []),
    ...pickedSql(places.map(({ context: own }) => own)),
    ...severalOf([...places, ...ranking]),
    ...(chosen ? [chosenSql(chosen, params)] : ranking.flatMap((place) => rankedOf(place, halves))),
    ...places.flatMap(factsOf),
    ...places.flatMap(sumsOf),
    `parts as (${[...places.flatMap(partsOf), ...(total ? [] : partsOfAll(groups))].join("\n  union all\n")}
)`,
    addedUp(context),
    cellsOf(context, first),
    "group_cells as (select * from cells where not total)",
    "total_cells as (select * from cells where total)",
    `shown as (${shownSql(dimensions, ask.spec.measures)}
)`,
  ];
  const columns = first ? "x.*" : columnsWithPercentiles(names);
  const text = `with ${ctes.join(",\n")}
select x.total::text as is_total, ${columns} from shown x order by x.total, x.place`;
  const alone = reachesOf(context).length > 0;
  return { text, params: params.values, alone, long: !alone };
}

/** The groups, asked for nothing but their order. */
function rankingOf(ask: Ask, survey: Survey, people: People, params: Parameters): Place {
  const { dimensions } = ask.spec;
  const context = contextOf(ask, survey, dimensions, params, { ranking: true, people });
  return { name: "ranking", context, section: { total: false, dimensions, kind: null }, ranked: false };
}

/** The table `ranked`: which groups are shown, of what cells tell by themselves where they do. */
function rankedOf(place: Place, halves: Halves): string[] {
  const { context } = place;
  const table = (sql: string) => `ranked as materialized (${sql}\n)`;
  if (isCounted(context)) {
    return [...factsOf(place), ...sumsOf(place), table(rankedOfParts(context, partsOf(place)))];
  }
  if (halves) {
    return [...factsOfHalves(context, halves), table(rankedSql(context, HALVES))];
  }
  return [
    `ranking as not materialized (${factsOfGroups(context, context.dimensions, null, false)}\n)`,
    ...(isByP95(context.ask) ? rankedByP95(context) : [table(rankedSql(context))]),
  ];
}

/** Their windows are the same. */
const severalOf = (places: readonly Place[]): string[] =>
  places
    .filter(({ context }) => isCounted(context) && hasRuns(context.entities))
    .slice(0, 1)
    .map(({ context }) => severalSql(context));

/** The groups or the total, and the facts that they are made of; `ranked`: of the groups that are chosen before. */
type Place = {
  name: "facts" | "facts_all" | "ranking";
  context: Context;
  section: Section;
  ranked: boolean;
};

/**
 * Where the total is made of facts, or sums, of its own; null: of those of the groups. A record with several tags is in
 * several groups, and one of groups that are not shown in none.
 */
function totalOf(groups: Place, all: Context): Place | null {
  const { dimensions, kind } = groups.context;
  const section = { total: true, dimensions: [], kind: all.kind && "total" } as const;
  const place = { context: all, section, ranked: false };
  if (dimensions.length === 0) return { ...place, name: "facts" };
  const apart =
    dimensions.includes("tag") ||
    groups.ranked ||
    (kind === null && all.kind !== null) ||
    isCounted(groups.context) ||
    isCounted(all);
  return apart ? { ...place, name: "facts_all" } : null;
}

/** The facts of a place. */
function factsOf({ name, context, section, ranked }: Place): string[] {
  const { dimensions } = section;
  // Groups of facts that sums tell of, too, are told apart by them; those of all together are not.
  const kind = section.total && name === "facts_all" ? null : section.kind;
  if (isCounted(context)) return countedFacts(context, { ...section, kind }, name, ranked);
  const apart = isApart(context);
  const who = apart ? { ...context, columns: [] } : context;
  const of = (own: Context) => factsOfGroups(own, dimensions, kind, ranked);
  const alike = `${name}_alike`;
  if (apart && isListed(context)) {
    const listed = of({ ...context, entities: [], listed: true });
    return [`${alike} as materialized (${listed}\n)`, listedFacts(name, alike)];
  }
  return [
    `${name} as not materialized (${of(who)}\n)`,
    ...(apart ? [`${alike} as not materialized (${of({ ...context, entities: [] })}\n)`] : []),
  ];
}

/** The facts of a place summed up, and who is in them. */
function sumsOf({ name, context, section, ranked }: Place): string[] {
  const apart = isApart(context);
  if (isCounted(context)) return countedSums(context, section, name, ranked);
  const listed = apart && isListed(context);
  const base = listed ? name : `base_of_${name}`;
  return [
    ...(listed
      ? []
      : [`${base} as materialized (${baseSql(context, apart ? [] : context.columns, name)}\n)`]),
    ...(apart ? [`sums_of_${name} as materialized (${sumsByGroup(context, `${name}_alike`)}\n)`] : []),
    ...whoOf(context).map(
      (entity) => `${entity}s_of_${name} as materialized (${activeSql(context, section, entity, base)}\n)`,
    ),
  ];
}

/** What the facts and the sums of a place tell. */
const partsOf = ({ name, context, section, ranked }: Place): string[] =>
  isCounted(context)
    ? countedParts(context, section, name, ranked)
    : [...partsOfFacts(context, section, name, activePart), ...sumPartsOf(context, section)];

/** What those of groups tell of all: who is in a group is in all. */
function partsOfAll({ name, context }: Place): string[] {
  const section = { total: true, dimensions: [], kind: context.kind && "total" } as const;
  return [...partsOfFacts(context, section, name, activeInAll), ...sumPartsOf(context, section)];
}

const partsOfFacts = (
  context: Context,
  section: Section,
  name: string,
  count: typeof activePart,
): string[] => [
  sumsOfBase(context, section, `${isApart(context) ? "sums" : "base"}_of_${name}`),
  ...whoOf(context).map((entity) => count(context, section, entity, `${entity}s_of_${name}`)),
  ...(context.entities.includes("hour") ? [hoursPart(context, section, `base_of_${name}`)] : []),
];

function addedUp(context: Context): string {
  return `sums as (
  select total, current, d1, d2, ${[...context.columns, ...countsOf(context)].map((name) => `sum(${name}) as ${name}`).join(", ")}
  from parts group by total, current, d1, d2
)`;
}

function cellsOf({ names }: Context, first: boolean): string {
  const columns = names.map((name) => `${finalSql(name, first)} as ${name}`);
  return `cells as (
  select s.total, s.current, s.d1, s.d2, ${[...columns, "coalesce(s.uncertain, 0) > 0 as floor"].join(", ")}
  from sums s where s.records > 0
)`;
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
