/** Types of parameters, in Postgres's words. */
export type ParameterType = "text" | "text[]" | "bigint" | "date" | "timestamptz";

/**
 * A database that answers reports. This file has everything that is different between the two; all other SQL of statements
 * over single records is the same text in both. Rollups, and statements over them, exist in Postgres alone.
 */
export type Engine = {
  name: "postgres" | "clickhouse";
  /** Postgres makes a set of `members` first, so that rollups can add to it; ClickHouse has aggregates (`atOnce`). */
  counts: "members" | "atOnce";
  settings: Readonly<Record<string, string | number>>;
  /** What stands for a parameter in a statement's text. */
  parameter(place: number, type: ParameterType): string;
  /** An instant as a parameter's value. */
  instant(ms: number): string;
  /** A table of a statement that is computed once; `isFew`: it has few rows. ClickHouse computes it wherever it is read. */
  table(isFew: boolean): string;
  /** A group's text, in an order by bytes. */
  groupText(sql: string): string;
  isAnyOf(value: string, list: string): string;
  /** Whether two lists have an item in common. */
  overlap(labels: string, list: string): string;
  hasItems(labels: string): string;
  /** A list, or one of `none` alone for an unknown or an empty list. */
  itemsOr(labels: string, none: string): string;
  /** The first item of a list, or `none`. */
  firstOr(labels: string, none: string): string;
  /** The distinct items of a list `labels`, a row for each: what to join, and the column with the item. */
  eachItem(labels: string): { join: string; item: string };
  /** Rows of the columns whose values the lists have, as texts. */
  rowsOf(columns: Readonly<Record<string, string>>): string;
  /** What tells apart who made a row, and the sessions of rows; null where it has none. */
  person(row: string): string;
  run(row: string): string;
  noText: string;
  /** An exact number from its text; null from an empty one. */
  exact(text: string): string;
  integers(text: string): string;
  /** The value of a list that holds at an instant; `since` has when each begins to. Null without a list. */
  valueSince(values: string, since: string, at: string): string;
  /** Dates of an instant in a time zone: `2026-11-26`, that of the week's Monday, and `2026-11`. */
  day(at: string, zone: string): string;
  week(at: string, zone: string): string;
  month(at: string, zone: string): string;
  /** Its calendar quarter, `2026-Q4`, and its hour on the clock, `09`. */
  quarter(at: string, zone: string): string;
  hourOfDay(at: string, zone: string): string;
  /** The columns by which hours are counted in which an instant's session was active. */
  hours(at: string): readonly string[];
  /** Milliseconds since 1970, as an integer or its text. */
  milliseconds(at: string): string;
  /** Whether a condition is true of any row. */
  someOf(condition: string): string;
  /**
   * Linear between the two nearest ranks, as spreadsheets' PERCENTILE.INC: of whole milliseconds a multiple of 1/20, so that
   * rounding takes away nothing but what floats leave behind.
   */
  percentile(fraction: number, column: string): string;
  /** Of a price as it is stored: the first group of a regular expression; null where it has no match. */
  priced(price: string, pattern: string): string;
  /** The rows (`kind`, `units`, `usd`) of the prices of a table of calls, and what their cost has beyond these as `other`. */
  pricedRows(calls: string): string;
  /** Whether a call or a cell is of a session in the table `sessions`. */
  isOfSessions(sessions: string): string;
  /** What to group by beside `current`, where one pass over facts makes groups and total; null: each takes its own. */
  groupsAndTotal(groups: readonly string[]): { by: string; isTotal: string } | null;
  /** Rows of either window (`current`) side by side: columns with the prefixes `c_` and `p_`. */
  sides(table: string, names: readonly string[], groups: string): string;
};

const UTC = "at time zone 'UTC'";
/** The lines of a price as it is stored (drizzle/price-text.ts). */
export const PRICE_LINES = "([a-z0-9_]+) (-?[0-9]+) ([0-9.]+)[|]";

export const POSTGRES: Engine = {
  name: "postgres",
  counts: "members",
  // gateway/stores/reports/report-store.ts has them.
  settings: {},
  parameter: (place, type) => `$${place}::${type}`,
  instant: (ms) => new Date(ms).toISOString(),
  table: (isFew) => (isFew ? "materialized " : "not materialized "),
  groupText: (sql) => `(${sql})::text collate "C"`,
  isAnyOf: (value, list) => `${value} = any(${list})`,
  overlap: (labels, list) => `(${labels}) && ${list}`,
  hasItems: (labels) => `cardinality(${labels}) > 0`,
  itemsOr: (labels, none) => `case when cardinality(${labels}) > 0 then ${labels} else array['${none}'] end`,
  firstOr: (labels, none) => `coalesce(${labels}[1], '${none}')`,
  // Few records repeat a tag, and `distinct` costs more for each row.
  eachItem: (labels) => ({
    join: `cross join lateral (
    select tag from (select unnest(${labels}) as tag, generate_subscripts(${labels}, 1) as place) u
    where array_position(${labels}, tag) = place) t`,
    item: "t.tag",
  }),
  rowsOf: (columns) =>
    `select * from unnest(${Object.values(columns).join(", ")}) as it(${Object.keys(columns).join(", ")})`,
  person: (row) => `coalesce(${row}.user_label, ${row}.owner)`,
  run: (row) => `${row}.session`,
  noText: "null::text",
  exact: (text) => `nullif(${text}, '')::numeric`,
  integers: (text) => `translate(${text}, '[]', '{}')::bigint[]`,
  valueSince: (values, since, at) => `${values}[width_bucket(${at}, ${since})]`,
  day: (at, zone) => `to_char(${at} at time zone '${zone}', 'YYYY-MM-DD')`,
  week: (at, zone) => `to_char(date_trunc('week', ${at} at time zone '${zone}'), 'YYYY-MM-DD')`,
  month: (at, zone) => `to_char(${at} at time zone '${zone}', 'YYYY-MM')`,
  quarter: (at, zone) => `to_char(${at} at time zone '${zone}', 'YYYY-"Q"Q')`,
  hourOfDay: (at, zone) => `to_char(${at} at time zone '${zone}', 'HH24')`,
  hours: (at) => [
    "r.run as hour_run",
    `(${at} ${UTC})::date as day`,
    `1 << extract(hour from ${at} ${UTC})::int as hours`,
  ],
  milliseconds: (at) => `(extract(epoch from ${at}) * 1000)::bigint::text`,
  someOf: (condition) => `bool_or(${condition})`,
  percentile: (fraction, column) =>
    `round((percentile_cont(${fraction}) within group (order by ${column}))::numeric, 2)`,
  priced: (price, pattern) => `substring(${price} #>> '{}' from '${pattern}')::numeric`,
  pricedRows: (
    calls,
  ) => `select c.current, c.model, c.tier, x.kind, x.units, x.usd from ${calls} c cross join lateral (
    with lines as materialized (select m[1] as kind, m[2]::numeric as units, m[2]::numeric * m[3]::numeric as usd
      from regexp_matches(c.price #>> '{}', '${PRICE_LINES}', 'g') m)
    select * from lines union all
    select 'other', 1, left_over from (select c.cost_usd - coalesce(sum(usd), 0) as left_over from lines) l where left_over <> 0
  ) x where c.cost_usd is not null`,
  isOfSessions: (sessions) => `session in (select session from ${sessions})`,
  groupsAndTotal: () => null,
  sides: (table, names, groups) => {
    const side = (prefix: string, which: string) => `(select * from ${table} where ${which}current)
    ${prefix} (total, ${prefix}_current, ${groups}, ${names.map((name) => `${prefix}_${name}`).join(", ")})`;
    return `
  select * from ${side("c", "")}
  full join ${side("p", "not ")} using (total, ${groups})`;
  },
};

/** The instants that ClickHouse's type can have; no record is beyond them. */
const FIRST_MS = Date.UTC(1900, 0);
const LAST_MS = Date.UTC(2299, 11, 31, 23, 59, 59, 999);

const TYPES: Record<ParameterType, string> = {
  text: "String",
  "text[]": "Array(String)",
  bigint: "Int64",
  date: "Date32",
  timestamptz: "DateTime64(3, 'UTC')",
};

const dayAt = (at: string, zone: string) => `toDate32(${at}, '${zone}')`;

export const CLICKHOUSE: Engine = {
  name: "clickhouse",
  counts: "atOnce",
  settings: {
    // Of the versions of a row the last one counts. Versions of a row are in one month.
    final: 1,
    do_not_merge_across_partitions_select_final: 1,
    // What the standard says, and Postgres does.
    aggregate_functions_null_for_empty: 1,
    join_use_nulls: 1,
    union_default_mode: "DISTINCT",
    cast_keep_nullable: 1,
    prefer_column_name_to_alias: 1,
    session_timezone: "UTC",
    // In a cluster, what is looked up is looked up in all shards.
    distributed_product_mode: "global",
  },
  parameter: (place, type) => `{p${place}:${TYPES[type]}}`,
  instant: (ms) => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS)).toISOString().slice(0, -1),
  table: () => "",
  groupText: (sql) => sql,
  isAnyOf: (value, list) => `${value} in ${list}`,
  overlap: (labels, list) => `hasAny(${labels}, ${list})`,
  hasItems: (labels) => `notEmpty(${labels})`,
  itemsOr: (labels, none) => `if(empty(${labels}), ['${none}'], ${labels})`,
  firstOr: (labels, none) => `if(empty(${labels}), '${none}', ${labels}[1])`,
  eachItem: (labels) => ({ join: "", item: `arrayJoin(arrayDistinct(${labels}))` }),
  rowsOf: (columns) => `select ${Object.keys(columns).map((name, i) => `it.${i + 1} as ${name}`)}
  from (select arrayJoin(arrayZip(${Object.values(columns).join(", ")})) as it)`,
  // Hashes of these texts, stored with the row: counting texts takes three times as long.
  person: (row) => `${row}.person`,
  run: (row) => `${row}.run`,
  noText: "cast(null as Nullable(String))",
  exact: (text) => `toDecimal256OrNull(${text}, 30)`,
  integers: (text) => `cast(${text} as Array(Int64))`,
  // A list that is missing is empty.
  valueSince: (values, since, at) =>
    `if(empty(${values}), null, ${values}[arrayCount(x -> x <= toUnixTimestamp64Milli(${at}), ${since})])`,
  day: (at, zone) => `toString(${dayAt(at, zone)})`,
  week: (at, zone) => `toString(${dayAt(at, zone)} - (toDayOfWeek(${dayAt(at, zone)}) - 1))`,
  month: (at, zone) => `substring(toString(${dayAt(at, zone)}), 1, 7)`,
  quarter: (at, zone) => `formatDateTime(${dayAt(at, zone)}, '%Y-Q%Q')`,
  hourOfDay: (at, zone) => `formatDateTime(${at}, '%H', '${zone}')`,
  hours: (at) => ["r.run", `toStartOfHour(${at}, 'UTC') as hour`],
  milliseconds: (at) => `toUnixTimestamp64Milli(${at})`,
  someOf: (condition) => `max(${condition})`,
  percentile: (fraction, column) => `round(quantileExactInclusive(${fraction})(${column}), 2)`,
  priced: (price, pattern) => `toDecimal256OrNull(extract(ifNull(${price}, ''), '${pattern}'), 30)`,
  pricedRows: (calls) => `select c.current, c.model, c.tier, it.1 as kind, it.2 as units, it.3 as usd from (
    select p.current, p.model, p.tier, arrayJoin(arrayConcat(p.lines,
      if(p.left_over = 0, [], [('other', toInt64(1), p.left_over)]))) as it from (
    select q.*, assumeNotNull(q.cost_usd) - if(empty(q.lines), toDecimal256(0, 30), arraySum(x -> x.3, q.lines)) as left_over from (
    select *, arrayMap(x -> (x[1], toInt64(x[2]), toInt64(x[2]) * toDecimal256(x[3], 30)),
      extractAllGroupsVertical(ifNull(price, ''), '${PRICE_LINES}')) as lines
    from ${calls} where cost_usd is not null) q) p) c`,
  isOfSessions: (sessions) => `run in (select sipHash64(session) from ${sessions})`,
  groupsAndTotal: (groups) => ({
    by: `grouping sets ((current, ${groups.join(", ")}), (current))`,
    isTotal: `grouping(${groups[0]}) = 1`,
  }),
  sides: (table, names, groups) => {
    const side = (prefix: string, which: string) =>
      names.map((name) => `any(${name}) filter (where ${which}current) as ${prefix}_${name}`);
    return `
  select total, ${groups}, ${[...side("c", ""), ...side("p", "not ")].join(", ")}
  from ${table} group by total, ${groups}`;
  },
};
