import type { DimensionName } from "#shared/report.ts";
import { DIMENSION, NONE } from "../dimensions.ts";
import type { AggregateName } from "../measures.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { bitsOf } from "./bits.ts";
import { carriedBy } from "./carried.ts";
import { inChosen } from "./chosen-cells.ts";
import { type Context, isTimely, OF_DAY } from "./context.ts";
import type { Cover, Span } from "./cover.ts";
import { groupedBy, KEY_TYPES, type Key, keySql, keysOf } from "./keys.ts";
import { BILLED, billedSql, hourBit, KINDS, type Kind, TAG_ROWS } from "./kinds.ts";
import { OVER_CELLS } from "./parts.ts";
import { conditionOf, type DayTable, earlySql, isEarly, isFineAsked, keysNamed, pickedOf } from "./picked.ts";
import { type Keys, recordsOf } from "./records.ts";
import { spansSql } from "./spans.ts";

/** A table of the groups that are wanted, or conditions of which cells of days are read, each by itself; null: all. */
type Among = string | readonly string[] | null;

/**
 * Cells of days and hours, and single records, where no sums by one dimension are read. `among`: of cells no others'
 * sessions are read then, where groups are of sessions.
 */
export function factsSql(
  context: Context,
  dimensions: readonly DimensionName[],
  kind: Kind | null,
  among: Among = null,
): string {
  const { ask, params } = context;
  const [d1 = "''", d2 = "''"] = dimensions.map((name) => OF_DAY[name] ?? DIMENSION[name].sql);
  const filters = filtersOf(ask.spec.filters).filter(([name]) => !isEarly(name));
  const asked = [...dimensions, ...filters.map(([name]) => name)];
  const conditions = filters.map(([name, values]) => `and ${conditionOf(name, values, params)}`);
  const apart = kind ? [...asked, kind] : asked;
  const lane = tellsLane(context);
  const keys = keysOf(context, apart, lane);
  const groups = keysOf({ entities: [] }, apart, lane);
  // Groups are made before anything else is done with their cells, which are many and wide; but not where persons and
  // days leave hardly fewer than there are cells.
  const timely = dimensions.some(isTimely);
  const alike = context.entities.every((entity) => entity === "person" && !timely);
  const chosen = isOfChosen(context, dimensions, among);
  const cells = chosen ? [inChosen(context, dimensions)] : amongSql(context, dimensions, among);
  const few =
    (among === null || chosen) && !dimensions.includes("session") && !isOfPairs(context, dimensions);
  const by = alike && few ? (timely ? "day" : "all") : null;
  // Hours are those of a window's edges: all of them are read sooner than those of tens of thousands of sessions.
  const hours = typeof among === "string" && among !== CANDIDATES ? cells : EACH;
  return `
  select r.current, (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2, ${columnsOf(context, keys, kind)}
  from (
    select u.*, true as attributed
    from (${cellsSql(context, { keys, groups }, { cells, hours, by })}
    ) u
  ) r${asked.includes("key") ? "\n  left join keys k on k.org_id = r.org_id and k.id = r.key_id" : ""}${dimensions.includes("tag") ? `\n  ${TAG_ROWS}` : ""}
  where true ${conditions.join("\n    ")}`;
}

/**
 * Whether nothing but who is in two dimensions is asked for: these are hardly fewer than cells, and told apart at once.
 * Of keys, persons and tags something has to be done for each row first.
 */
function isOfPairs({ columns, entities }: Context, dimensions: readonly DimensionName[]): boolean {
  const plain = new Set(dimensions.filter((name) => PLAIN.includes(name)));
  return columns.length === 0 && entities.length > 0 && plain.size > 1;
}

/** Whether anything is asked for of what is billed alone: what only tells an order may not be. */
const tellsLane = ({ columns, names }: Pick<Context, "columns" | "names">): boolean =>
  [...columns.map((name) => OVER_CELLS[name as AggregateName] ?? ""), ...names].some((sql) =>
    sql.includes("billed"),
  );

const PLAIN: readonly DimensionName[] = ["client", "model", "route"];

/** The table of groups whose percentiles are looked at (ranked-by-p95.ts): there may be tens of thousands. */
export const CANDIDATES = "candidates";

const EACH: readonly string[] = ["true"];

/** Whether no cells but those of the groups `ranked` are read, to be summed up by them: those of sessions are few. */
const isOfChosen = (context: Context, dimensions: readonly DimensionName[], among: Among): boolean =>
  among === "ranked" && !dimensions.includes("session") && pickedOf(context, "rollup_cells") === null;

/** Which cells are read, each condition by itself: sessions are found by an index, and cells without one only if wanted. */
function amongSql({ byRun }: Context, dimensions: readonly DimensionName[], among: Among): readonly string[] {
  if (among === null) return EACH;
  if (typeof among === "object") return among;
  // What is picked has no index, and an array is gone over for each of its rows.
  const several = "(select session from several)";
  if (among === "several") return [`session ${byRun ? `in ${several}` : `= any(array${several})`}`];
  const place = dimensions.indexOf("session") + 1;
  if (place === 0) return EACH;
  return [
    `session = any(array(select d${place} from ${among}))`,
    `session is null and exists (select from ${among} where d${place} = '${NONE}')`,
  ];
}

function columnsOf(context: Context, keys: readonly Key[], kind: Kind | null): string {
  const { ask, columns, names, entities } = context;
  const person = keys.includes("person") ? "r.person" : keySql("person", "r.");
  const people = entities.includes("person") ? `case when not r.told then ${person} end` : "null::text";
  const runs = entities.some((entity) => entity !== "person") ? "r.session" : "null::text";
  const isBilled = keys.includes("billed") ? "r.billed" : BILLED;
  const billed = asksForLane(ask.spec) || !tellsLane({ columns, names }) ? "true" : isBilled;
  return [
    `${kind ? `(${KINDS[kind]})::text` : "''::text"} as value`,
    `${billed} as billed, r.day, r.hours, ${people} as person, ${runs} as run`,
    ...carriedBy(context).map(({ name }) => `r.${name}`),
  ].join(", ");
}

/**
 * Cells of both windows at once, for they may be most of a table; single records by window and hour, so that all that is
 * alike within a branch is a constant. These are summed up at once: most that follows is then done for few rows.
 */
function cellsSql(context: Context, { keys, groups }: Keys, { cells, hours, by }: Which): string {
  const { covers } = context;
  const { current, previous } = covers;
  const branches = [
    ...cellsOf(context, keys, {
      ...dayTable(context, isFineAsked(context, keys) ? "rollup_cells" : "rollup_sessions"),
      at: "day",
      hours: "hours",
      spansOf: ({ days }) => days,
      among: cells,
      by,
    }),
    ...cellsOf(context, keys, {
      table: "rollup_hours",
      picked: null,
      at: "hour",
      hours: hourBit("hour"),
      spansOf: (cover) => cover.hours,
      among: hours,
      by,
    }),
    ...recordsOf(context, { keys, groups }, true, current),
    ...(previous ? recordsOf(context, { keys, groups }, false, previous) : []),
  ];
  return branches.length > 0 ? branches.join("\n    union all") : nothing(context, keys);
}

const dayTable = (context: Context, table: DayTable) => ({ table, picked: pickedOf(context, table) });

/** What cells are grouped by beside their keys; null: they are not. */
type By = "day" | "all" | null;
/** Which cells of days and of hours are read, each condition by itself. */
type Which = { cells: readonly string[]; hours: readonly string[]; by: By };
type CellTable = {
  among: readonly string[];
  by: By;
  table: string;
  /** Where all of its cells that are read stand already. */
  picked: string | null;
  at: string;
  hours: string;
  spansOf(cover: Cover): readonly Span[];
};

function cellsOf(
  context: Context,
  keys: readonly Key[],
  { table, picked, at, hours, spansOf, among, by }: CellTable,
): string[] {
  const { ask, params, covers, people, byRun } = context;
  const [now, before] = [spansOf(covers.current), covers.previous ? spansOf(covers.previous) : []];
  if (now.length + before.length === 0) return [];
  const side = before.length === 0 ? "true" : spansSql(at, now, params);
  const carried = carriedBy(context, { isDay: at === "day" });
  const times = [by === "all" ? "null::date as day" : "day", by ? "0 as hours" : `${hours} as hours`];
  const alone = by !== null && isBilledAlone(context, keys);
  const sums = alone ? ` filter (where ${billedSql("")})` : "";
  const told = carried.map(({ name, one, all }) => `${by ? `${all}${sums}` : one} as ${name}`);
  const apart = keys.filter((key) => key !== "billed" || !alone).map((key) => keySql(key, ""));
  // What all rows agree in need not be told apart.
  const groups = [...(before.length === 0 ? [] : ["1"]), ...(by === "day" ? ["day"] : []), ...apart];
  const group = by ? ` group by ${groupedBy(groups)}` : "";
  const org = params.add(ask.orgId, "text");
  const columns = keys.map((key) => `${key === "billed" && alone ? "true" : keySql(key, "")} as ${key}`);
  const bits = bitsOf(people, keySql("person", "r."), params);
  const fromOf = (which: string) =>
    picked !== null && (which === "true" || byRun)
      ? `${picked} r${bits} where ${which}`
      : `${table} r${bits} where org_id = ${org} and (${spansSql(at, [...now, ...before], params)}) and ${which}${keysNamed({ ask, params })}${earlySql({ ask, params }, "day")}`;
  return among.map(
    (which) => `
    select ${[`${side} as current`, ...times, "false as told", `${org} as org_id`, ...columns, ...told].join(", ")}
    from ${fromOf(which)}${group}`,
  );
}

/** Whether nothing is asked for but of what is billed: then sums of that alone need not be told apart by it. */
const isBilledAlone = ({ columns, names, entities, listed }: Context, keys: readonly Key[]): boolean =>
  keys.includes("billed") &&
  entities.length === 0 &&
  !listed &&
  [...columns, ...names].every((name) => (OVER_CELLS[name as AggregateName] ?? name).includes("billed"));

/** Columns without rows: no record is read as a fact. */
function nothing(context: Context, keys: readonly Key[]): string {
  const carried = carriedBy(context).map(({ name, type }) => `null::${type} as ${name}`);
  const told = keys.map((key) => `null::${KEY_TYPES[key]} as ${key}`);
  return `
    select ${["true as current", "null::date as day", "0 as hours", "false as told", "''::text as org_id", ...told, ...carried].join(", ")} where false`;
}
