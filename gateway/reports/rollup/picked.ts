import type { DimensionName } from "#shared/report.ts";
import { filterSql } from "../dimensions.ts";
import type { Parameters } from "../parameters.ts";
import { filtersOf } from "../spec.ts";
import { type Context, isTimely } from "./context.ts";
import { type Key, keysOf } from "./keys.ts";
import { isFine } from "./kinds.ts";
import { ofSessions, usedSums } from "./parts.ts";
import { spansSql } from "./spans.ts";

// A statement reads the cells of days up to five times: to choose its rows, to sum them up, to tell apart who is in them,
// and the same for all. Where filters leave few of them, they are picked once.

/** Tables of days' cells, and of those that filters leave. */
const PICKED = { rollup_cells: "picked_cells", rollup_sessions: "picked_sessions" } as const;
export type DayTable = keyof typeof PICKED;
/** The same with one row for all models and routes that filters leave of a session's keys and a day. */
const RUNS = "picked_runs";

/** Whether filters leave few of them. A channel or a time may leave most. */
export const isFew = ({ spec }: Pick<Context["ask"], "spec">): boolean =>
  filtersOf(spec.filters).some(([name]) => name !== "channel" && !isTimely(name));

/** Whether cells by model and route are needed for the dimensions or keys `asked` for. */
export const isFineAsked = ({ ask }: Pick<Context, "ask">, asked: readonly string[]): boolean =>
  [...asked, ...filtersOf(ask.spec.filters).map(([name]) => name)].some(isFine);

/** The table of those that filters leave, where there is one. */
export const pickedOf = ({ ask, kind, byRun, columns }: Context, table: DayTable): string | null => {
  if (byRun && columns.length === 0) return RUNS;
  return isFew(ask) && kind === null ? PICKED[table] : null;
};

/** These tables for what shares its windows, the groups first. One that is read but once becomes part of what reads it. */
export function pickedSql(contexts: readonly Context[]): string[] {
  const [context] = contexts;
  if (!context) return [];
  const { ask, dimensions, params } = context;
  const filters = filtersOf(ask.spec.filters).map(([name]) => name);
  const fine = isFineAsked(context, dimensions) ? (["rollup_cells"] as const) : [];
  const whole = isFineAsked(context, []) ? [] : (["rollup_sessions"] as const);
  const { current, previous } = context.covers;
  const days = [...current.days, ...(previous?.days ?? [])];
  return [...fine, ...whole].flatMap((table) => {
    const name = pickedOf(context, table);
    if (name === null || days.length === 0) return [];
    const isFull = table === "rollup_cells";
    const asked = [...dimensions, ...filters.filter((filter) => !isEarly(filter)), "subject", "channel"];
    const keys = keysOf({ entities: ["session"] }, asked, false).filter((key) => isFull || !isFine(key));
    const counting = isFull ? contexts.flatMap(countingOf) : [];
    const cost = ofSessions(context.columns) ? ["cost_usd"] : [];
    const sums = new Set([...cost, ...usedSums(context.columns), ...counting]);
    return [
      `${name} as (
  select ${["day", "hours", ...keys, ...sums].map((column) => `r.${column}`).join(", ")}
  from (select c.*, true as attributed from ${table} c) r
  where r.org_id = ${params.add(ask.orgId, "text")} and (${spansSql("day", days, params)})${pickingSql(context, table)}
)`,
      ...(contexts.some(({ byRun }) => byRun) ? [runsSql(name, keys)] : []),
    ];
  });
}

function runsSql(picked: string, keys: readonly Key[]): string {
  const own = keys.filter((key) => !isFine(key)).join(", ");
  return `${RUNS} as (
  select day, bit_or(hours) as hours, ${own} from ${picked} group by day, ${own}
)`;
}

const countingOf = ({ counting }: Context): string[] =>
  counting === null || counting === "hours" ? [] : [counting];

/** Conditions of the filters on rows `r` of a table of days' cells; of sessions those that do not need models or routes. */
export function pickingSql({ ask, params }: Pick<Context, "ask" | "params">, table: DayTable): string {
  const conditions = filtersOf(ask.spec.filters)
    .filter(([name]) => name !== "key" && (table === "rollup_cells" || !isFine(name)))
    .map(([name, values]) => ` and ${conditionOf(name, values, params)}`);
  return conditions.join("") + keysNamed({ ask, params });
}

/** Behind a text, whether that is an id. */
export const IS_ID = "~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";

/** A filter by names of keys as one by their ids, so that no other cells are read; labels without a key are its id. */
export function keysNamed({ ask, params }: Pick<Context, "ask" | "params">): string {
  const names = ask.spec.filters.key ?? [];
  if (names.length === 0) return "";
  const list = params.add(names, "text[]");
  return ` and key_id = any(array(
      select id from keys where org_id = ${params.add(ask.orgId, "text")} and name = any(${list})
      union all select name::uuid from unnest(${list}) name where name ${IS_ID}))`;
}

/** Filters that are asked of cells and records before these are grouped, so that they need not be told apart by them. */
export const isEarly = (name: DimensionName): boolean => isTimely(name) || isFine(name);

/** Conditions of these on rows `r` whose day is `day`. */
export const earlySql = ({ ask, params }: Pick<Context, "ask" | "params">, day: string): string =>
  filtersOf(ask.spec.filters)
    .filter(([name]) => isEarly(name))
    .map(([name, values]) => ` and ${conditionOf(name, values, params, day)}`)
    .join("");

/** A filter on rows `r` with their `day`. */
export function conditionOf(
  name: DimensionName,
  values: readonly string[],
  params: Parameters,
  day = "r.day",
): string {
  if (!isTimely(name)) return filterSql(name, params.add(values, "text[]"));
  // As days, which cost less to look at than their texts. Postgres knows no year 0.
  const spans = values
    .filter((value) => !value.startsWith("0000"))
    .map((value) => {
      const first = params.add(name === "month" ? `${value}-01` : value, "date");
      return `${day} >= ${first} and ${day} < (${first} + interval '1 ${name}')::date`;
    });
  return `(${spans.join(" or ") || "false"})`;
}
