import type { MeasureName } from "#shared/report.ts";
import { AGGREGATES, aggregatesOf, columnsOf, FLOOR_SQL } from "./measures.ts";
import { parameters, type Query } from "./parameters.ts";
import { type Ask, sharedSql, shownSql } from "./plan.ts";
import { isOfMerges, planMerges } from "./plan-merges.ts";
import { filtersOf } from "./spec.ts";

/**
 * Rows and total in one statement, of records of which each is in one group: reading them takes the time, and telling
 * apart who is in them. For the latter the server would sort the records for each count anew; so they are hashed first,
 * once for each of what is counted. The columns are those of `shownSql`.
 */
export function planTogether(ask: Ask): Query {
  if (ask.survey && isOfMerges(ask.spec)) return planMerges(ask, ask.survey);
  const { source, dimensions, filters, measures } = ask.spec;
  const params = parameters();
  const shared = sharedSql(ask, params, { dimensions, filters: filtersOf(filters) });
  const outcomes = source === "outcomes";
  const columns = new Set([
    ...["current", "d1", "d2", "billed", "uncertain"],
    ...columnsOf(aggregatesOf(measures)).filter((name) => !outcomes || name !== "cost_usd"),
    ...(outcomes ? ["run", "pull_request", "session_cost_usd"] : []),
  ]);
  const told = [...columns].map((name) =>
    name === "reverted" ? `pull_request = any(${params.add(ask.reverted, "text[]")}) as reverted` : name,
  );
  const cells = (groups: readonly string[]) => cellsSql(measures, groups, outcomes);
  const sets = setsOf(measures);
  // Two readings cost less than a copy; three do not.
  const copied = sets.length > 0 || outcomes ? "materialized" : "not materialized";
  const text = `with facts as ${copied} (select ${told.join(", ")} from ${shared} shared),
${[
  ...sets.map((set) => `${set.name} as materialized (${setSql(set)})`),
  `group_cells as (${cells(["d1", "d2"])})`,
  `total_cells as (${cells([])})`,
].join(",\n")}
select shown.*, total::text as is_total from (${shownSql(dimensions, measures)}) shown order by total, place`;
  return { text, params: params.values };
}

/** What is counted distinctly, and the counts made of it: that of column `w…` if it is not of all. */
type Count = { name: string; where: string | null };
type DistinctSet = { name: string; by: readonly string[]; counts: Count[] };

function setsOf(measures: readonly MeasureName[]): DistinctSet[] {
  const sets: DistinctSet[] = [];
  for (const name of aggregatesOf(measures)) {
    const aggregate = AGGREGATES[name];
    if (!("distinct" in aggregate) || !aggregate.distinct) continue;
    const { by, where } = aggregate.distinct;
    const known = sets.find((set) => set.by.join() === by.join());
    if (known) known.counts.push({ name, where });
    else sets.push({ name: `set${sets.length}`, by, counts: [{ name, where }] });
  }
  return sets;
}

/** Each of a group once. */
function setSql({ by, counts }: DistinctSet): string {
  const columns = by.map((sql, i) => `${sql} as it${i}`);
  const flags = counts.flatMap(({ where }, i) => (where ? [`bool_or(${where}) as w${i}`] : []));
  return `
  select ${["current", "d1", "d2", ...columns, ...flags].join(", ")}
  from facts where ${by[0]} is not null group by ${["current", "d1", "d2", ...by].join(", ")}`;
}

function cellsSql(measures: readonly MeasureName[], groups: readonly string[], outcomes: boolean): string {
  const by = ["current", ...groups];
  const same = (other: string) => by.map((name) => `${other}.${name} = g.${name}`).join(" and ");
  const sets = setsOf(measures);
  const counted = new Map(
    sets.flatMap(({ name, counts }) => counts.map((count): [string, string] => [count.name, name])),
  );
  const names = aggregatesOf(measures);
  const sums = names.filter((name) => !counted.has(name) && !(outcomes && name === "cost_usd"));
  const figures = names.map((name) => {
    const set = counted.get(name);
    if (set) return `coalesce(${set}.${name}, 0) as ${name}`;
    // Where nothing was merged, nothing was spent on merges: see outcomesSql.
    if (outcomes && name === "cost_usd") return "case when g.told > 0 then k.cost_usd else 0 end as cost_usd";
    return `g.${name}`;
  });
  const own = [
    ...by,
    ...(outcomes ? ["count(pull_request) as told"] : []),
    ...sums.map((name) => `${AGGREGATES[name].sql} as ${name}`),
    `${FLOOR_SQL} as floor`,
  ];
  const joins = sets.map(
    (set) => `
  left join (${countsSql(set, by)}) ${set.name} on ${same(set.name)}`,
  );
  const cost = `
  left join (
    select ${by.join(", ")}, sum(cost_usd) as cost_usd
    from (select ${by.join(", ")}, max(session_cost_usd) as cost_usd from facts where run is not null group by ${by.join(", ")}, run) s
    group by ${by.join(", ")}
  ) k on ${same("k")}`;
  return `
  select g.current, ${groups.length > 0 ? "g.d1, g.d2" : "''::text as d1, ''::text as d2"}, ${[...figures, "g.floor"].join(", ")}
  from (select ${own.join(", ")} from facts group by ${by.join(", ")}) g${[...joins, ...(outcomes ? [cost] : [])].join("")}
`;
}

/** In all those of groups are told apart once more. */
function countsSql({ name, by, counts }: DistinctSet, groups: readonly string[]): string {
  const its = by.map((_, i) => `it${i}`).join(", ");
  const flags = counts.map(({ where }, i) => (where ? `, bool_or(w${i}) as w${i}` : "")).join("");
  const from =
    groups.length > 1 ? name : `(select current, ${its}${flags} from ${name} group by current, ${its}) e`;
  const told = counts.map(
    (count, i) => `count(*)${count.where ? ` filter (where w${i})` : ""} as ${count.name}`,
  );
  return `select ${[...groups, ...told].join(", ")} from ${from} group by ${groups.join(", ")}`;
}
