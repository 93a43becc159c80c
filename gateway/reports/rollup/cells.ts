import { KEY_COLUMNS, type KeyColumn, ofOne, SUM_NAMES, SUMS, type SumName } from "#drizzle/hour-sums.ts";
import type { DimensionName } from "#shared/report.ts";
import { aggregateOf, namedIn } from "../aggregates.ts";
import { type Context, distinctNames, groupColumns, isZoned, type Section } from "../context.ts";
import {
  dayColumn,
  dimensionOf,
  filterSql,
  intervalOf,
  isTime,
  type TimeDimension,
  tagRows,
} from "../dimensions.ts";
import { POSTGRES } from "../engines.ts";
import { asksForExplanation, EXPLANATION_ROWS, IS_DIVIDED } from "../explained.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { type Span, splitHours } from "./cover.ts";
import { billedSql, hourBit, personSql } from "./kinds.ts";
import { spansSql } from "./spans.ts";

/** Tables of facts: cells of days (without model and route), cells of hours, and single records. */
const TABLES = {
  rollup_sessions: { at: "r.day", day: "r.day", hours: "r.hours" },
  rollup_hours: { at: "r.hour", day: "r.day", hours: hourBit("r.hour") },
  requests: {
    at: "r.started_at",
    day: "(r.started_at at time zone 'UTC')::date",
    hours: hourBit("r.started_at"),
  },
} as const;
type TableName = keyof typeof TABLES;

const TYPES: Partial<Record<KeyColumn, string>> = { key_id: "uuid", tags: "text[]", teams: "text[]" };

/** Both windows' facts from cells and records: groups `d1`, `d2`, `billed`, who made it, and its sums. */
export function cellFacts(context: Context, { dimensions }: Pick<Section, "dimensions">): string {
  const { ask, params } = context;
  const filters = filtersOf(ask.spec.filters);
  const asked = [...dimensions, ...filters.map(([name]) => name)];
  const texts = dimensions.map((name) => {
    const { cells, records } = dimensionOf(name, ask);
    return `(${cells ?? records})::text collate "C"`;
  });
  const groups = groupColumns(context, texts, `('')::text collate "C"`);
  const keys = asked.includes("key")
    ? `\n  left join keys k on k.org_id = ${params.add(ask.orgId, "text")} and k.id = r.key_id`
    : "";
  const conditions = filters.map(([name, values]) => ` and ${conditionOf(name, values, context)}`);
  return `
  select r.current, ${groups}, ${factColumns(context).join(", ")}
  from (select u.*, true as attributed from (${rowsOf(context, asked)}
  ) u) r${keys}${dimensions.includes("tag") ? `\n  ${tagRows(POSTGRES)}` : ""}${asksForExplanation(ask.spec) ? EXPLANATION_ROWS : ""}
  where true${conditions.join("")}`;
}

/** What is told of a fact beside its groups: no more than the aggregates need. */
function factColumns(context: Context): string[] {
  const { ask } = context;
  const counts = distinctNames(context);
  const billed = asksForLane(ask.spec) ? "true" : billedSql("r.");
  return [
    `${billed} as billed`,
    ...(counts.includes("person") ? [`${personSql("r.")} as person`] : []),
    ...(counts.includes("payer")
      ? [`case when ${billed} and r.unpriced < r.records then ${personSql("r.")} end as payer`]
      : []),
    ...(counts.includes("session") ? ["r.session as run"] : []),
    ...(counts.includes("hour") ? ["r.day", "r.hours", "r.session as hour_run"] : []),
    ...sumsOf(context).map((name) => `r.${name}`),
    ...(isOfSessions(context)
      ? ["case when r.session is not null then r.cost_usd end as session_cost_usd"]
      : []),
  ];
}

function sumsOf({ names }: Context): SumName[] {
  return namedIn(
    names.map((name) => aggregateOf(name).cells?.replace("session_cost_usd", "cost_usd") ?? ""),
    SUM_NAMES,
  );
}
const isOfSessions = ({ names }: Context): boolean => names.includes("session_cost_usd");

function rowsOf(context: Context, asked: readonly DimensionName[]): string {
  const { current, previous } = context.covers;
  const spans = (of: "days" | "hours" | "raw") => [...current[of], ...(previous?.[of] ?? [])];
  const isFine = asked.includes("model") || asked.includes("route") || isZoned(context.ask);
  const fine = splitHours(isFine ? spans("days") : [], context.ask.reach);
  const reads: Record<TableName, Span[]> = {
    rollup_sessions: isFine ? [] : spans("days"),
    rollup_hours: [...fine.hours, ...spans("hours")],
    requests: [...fine.raw, ...spans("raw")],
  };
  const keys = keysOf(context, asked);
  // The keys of the table are those of `TABLES`.
  const rows = (Object.keys(reads) as TableName[])
    .filter((table) => reads[table].length > 0)
    .map((table) => rowsIn(context, table, { spans: reads[table], keys }));
  const summed = [...reads.rollup_sessions, ...reads.rollup_hours];
  // Single records, while they are kept, say to which stretch a call belongs.
  if (summed.length > 0 && asksForExplanation(context.ask.spec))
    rows.push(`${rowsIn(context, "requests", { spans: summed, keys })}
      and r.session = any(array(select split from declared)) and ${IS_DIVIDED} and not ${isDropped("r.started_at", context)}`);
  return rows.join("\n    union all") || noRows(context, keys);
}

const isDropped = (at: string, { ask, params }: Context): string =>
  `(${at} < coalesce((select raw_from from rollup_state s where s.org_id = ${params.add(ask.orgId, "text")}), '-infinity'))`;

/** The columns that tell apart what is asked for, and that say who made a fact. */
function keysOf(context: Context, asked: readonly DimensionName[]): KeyColumn[] {
  const counts = distinctNames(context);
  const needed = new Set<KeyColumn>([
    "channel",
    ...asked.flatMap((name) => dimensionOf(name).columns ?? []),
    ...(counts.includes("person") || counts.includes("payer") ? (["owner", "user_label"] as const) : []),
    ...(isOfSessions(context) || counts.includes("session") || counts.includes("hour")
      ? (["session"] as const)
      : []),
  ]);
  return KEY_COLUMNS.filter((key) => needed.has(key));
}

/** Rows of one table. Both windows are read at once: whatever began with the current one or later is of it. */
function rowsIn(
  context: Context,
  table: TableName,
  { spans, keys }: { spans: readonly Span[]; keys: readonly KeyColumn[] },
): string {
  const { ask, params } = context;
  const { at, day, hours } = TABLES[table];
  const { current, previous } = ask.periods;
  const from = { fromMs: current.fromMs ?? Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  const isSingle = table === "requests";
  const explains = asksForExplanation(ask.spec);
  const sum = (name: SumName) => (isSingle ? `${ofOne(name)} as ${name}` : `r.${name}`);
  const columns = [
    `${previous ? spansSql(at, [from], params) : "true"} as current`,
    `${day} as day`,
    ...(isZoned(ask) ? [`(${at} at time zone '${ask.timeZone}')::date as local_day`] : []),
    `${hours} as hours`,
    ...keys.map((key) => `r.${key}`),
    ...sumsOf(context).map(sum),
    ...(explains
      ? OF_STRETCH.map(([name, type]) => (isSingle ? `r.${name}` : `null::${type} as ${name}`))
      : []),
  ];
  return `
    select ${columns.join(", ")}
    from ${table} r where r.org_id = ${params.add(ask.orgId, "text")} and (${spansSql(at, spans, params)})${
      explains && !isSingle ? ` and (not ${IS_DIVIDED} or ${isDropped(at, context)})` : ""
    }`;
}

/** What says to which stretch a single record belongs. */
const OF_STRETCH = [
  ["agent_session", "text"],
  ["parent_session", "text"],
  ["started_at", "timestamptz"],
] as const;

/** Columns without rows, where sums by one dimension answer alone. */
function noRows(context: Context, keys: readonly KeyColumn[]): string {
  const none = [
    ...(isZoned(context.ask) ? ["null::date as local_day"] : []),
    ...keys.map((key) => `null::${TYPES[key] ?? "text"} as ${key}`),
    ...sumsOf(context).map((name) => `null::${SUMS[name].type} as ${name}`),
    ...(asksForExplanation(context.ask.spec)
      ? OF_STRETCH.map(([name, type]) => `null::${type} as ${name}`)
      : []),
  ];
  return `
    select true as current, null::date as day, 0 as hours, ${none.join(", ")} where false`;
}

function firstDayOf(name: TimeDimension, value: string): string {
  const [year, quarter = ""] = value.split("-Q");
  if (name === "quarter") return `${year}-${String(3 * Number(quarter) - 2).padStart(2, "0")}-01`;
  return name === "month" ? `${value}-01` : value;
}

/** A filter on rows `r`. Times are compared as days, which costs less than as their texts; Postgres knows no year 0. */
function conditionOf(name: DimensionName, values: readonly string[], { ask, params }: Context): string {
  if (!isTime(name)) return filterSql(name, params.add(values, "text[]"), ask);
  const day = dayColumn(ask.timeZone);
  const spans = values
    .filter((value) => !value.startsWith("0000"))
    .map((value) => {
      const first = params.add(firstDayOf(name, value), "date");
      return `${day} >= ${first} and ${day} < (${first} + interval '${intervalOf(name)}')::date`;
    });
  return `(${spans.join(" or ") || "false"})`;
}
