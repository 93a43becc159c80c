import type { DimensionName } from "#shared/report.ts";
import { DIMENSION, filterSql } from "../dimensions.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { type Context, isTimely, OF_DAY } from "./context.ts";
import { type Cover, HOUR_MS, type Span } from "./cover.ts";
import { BILLED, isFine, KINDS, type Kind, TAG_ROWS } from "./kinds.ts";
import { boundsSql, spansSql } from "./spans.ts";
import { BUCKET_NAMES, BUCKET_SQL, SUM_NAMES, SUMS } from "./sums.ts";

const groupSql = (name: DimensionName): string => OF_DAY[name] ?? DIMENSION[name].sql;

const SESSION_KEYS = "channel, client, owner, user_label, key_id, session, tags";
const SESSION_COST = "case when session is not null then cost_usd end";

/**
 * What facts bring: sums of cells, and single records as cells of one with the `bucket` of their latency (0 to 75, −1
 * without one; null of cells); or the histograms of cells alone, which are wide.
 */
export type Brings = "sums" | "histograms";

/** Cells of days and hours, and single records, where no sums by one dimension are read. */
export function factsSql(
  context: Context,
  dimensions: readonly DimensionName[],
  kind: Kind | null,
  brings: Brings = "sums",
): string {
  const { ask, params } = context;
  const [d1 = "''", d2 = "''"] = dimensions.map(groupSql);
  const filters = filtersOf(ask.spec.filters);
  const asked = [...dimensions, ...filters.map(([name]) => name), ...(kind ? [kind] : [])];
  const conditions = filters.map(([name, values]) => `and ${filterOf(name, params.add(values, "text[]"))}`);
  const columns = brings === "sums" ? ["session_cost_usd", ...SUM_NAMES, "bucket"] : BUCKET_NAMES;
  return `
  select r.current, (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2,
    ${kind ? `(${KINDS[kind]})::text as value` : "''::text as value"}, ${asksForLane(ask.spec) ? "true" : BILLED} as billed,
    r.day, r.hours, r.person, r.run, ${columns.map((name) => `r.${name}`).join(", ")}
  from (
    select u.*, coalesce(u.user_label, u.owner) as person, u.session as run, true as attributed
    from (${cellsSql(context, asked.some(isFine), brings)}
    ) u
  ) r
  left join keys k on k.org_id = r.org_id and k.id = r.key_id${dimensions.includes("tag") ? `\n  ${TAG_ROWS}` : ""}
  where true ${conditions.join("\n    ")}`;
}

/**
 * Cells of both windows at once, for they may be most of a table; single records by window and hour, so that all that is
 * alike within a branch is a constant. `fine`: the model and the route matter.
 */
function cellsSql(context: Context, fine: boolean, brings: Brings): string {
  const { ask, params, covers, names } = context;
  const keys = `org_id, ${SESSION_KEYS}${fine ? ", model, route" : ""}`;
  const own =
    brings === "sums"
      ? `${SUM_NAMES.join(", ")}, ${SESSION_COST} as session_cost_usd, null::int as bucket`
      : BUCKET_NAMES.join(", ");
  const bucket = names.includes("latency_p95_ms") ? `coalesce(${BUCKET_SQL}, -1)` : "null";
  const one = `${SUM_NAMES.map((name) => `${oneSql(name)} as ${name}`).join(", ")}, ${SESSION_COST} as session_cost_usd, ${bucket}::int as bucket`;
  const org = params.add(ask.orgId, "text");
  const from = (columns: string, table: string, where: string) =>
    `select ${columns} from ${table} where org_id = ${org} and (${where})`;
  const { current, previous } = covers;
  const cells = (columns: string, table: string, column: string, of: (cover: Cover) => readonly Span[]) => {
    const [now, before] = [of(current), previous ? of(previous) : []];
    if (now.length + before.length === 0) return [];
    const side = before.length === 0 ? "true" : spansSql(column, now, params);
    return [
      from(
        `${side} as current, ${columns}, ${keys}, ${own}`,
        table,
        spansSql(column, [...now, ...before], params),
      ),
    ];
  };
  const branches = [
    ...cells("day, hours", fine ? "rollup_cells" : "rollup_sessions", "day", ({ days }) => days),
    ...cells(`day, ${hourBit("hour")} as hours`, "rollup_hours", "hour", ({ hours }) => hours),
  ];
  if (brings === "sums") {
    const records = (isCurrent: boolean) => (span: Span) =>
      from(
        `${isCurrent} as current, ${timesOf(span)}, ${keys}, ${one}`,
        "requests r",
        boundsSql("started_at", span, params),
      );
    branches.push(...current.raw.map(records(true)), ...(previous?.raw ?? []).map(records(false)));
  }
  return branches.length > 0 ? branches.join("\n    union all\n    ") : nothing(keys, own, org);
}

/** Columns without rows: no record is read as a fact. */
const nothing = (keys: string, own: string, org: string): string =>
  `select true as current, day, 0 as hours, ${keys.replace("model, route", "null::text as model, null::text as route")}, ${own} from rollup_sessions where false and org_id = ${org}`;

/** Which day and hour its records are of. */
function timesOf({ fromMs, toMs }: Span): string {
  const hourMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  if (toMs > hourMs + HOUR_MS || !Number.isFinite(hourMs)) {
    return `(started_at at time zone 'UTC')::date as day, ${hourBit("started_at")} as hours`;
  }
  const hour = new Date(hourMs);
  return `date '${hour.toISOString().slice(0, 10)}' as day, ${1 << hour.getUTCHours()} as hours`;
}

const hourBit = (column: string): string => `1 << extract(hour from ${column} at time zone 'UTC')::int`;

function filterOf(name: DimensionName, any: string): string {
  return isTimely(name) ? `${OF_DAY[name]} = any(${any})` : filterSql(name, any);
}

const oneSql = (name: keyof typeof SUMS): string => {
  const { one, type } = SUMS[name];
  return type === "numeric" ? one : `coalesce(${one}, 0)::${type}`;
};
