import { getTableConfig, type PgColumn } from "drizzle-orm/pg-core";
import { isSummed } from "../../reports/buckets/columns.ts";
import { COPIED, type CopiedTable, copiedColumns, plainType, TOOL_HOUR } from "./schema.ts";

/** Tables whose rows have a time, which days and retention go by. */
export const TIMES = {
  requests: "started_at",
  tool_calls: "started_at",
  agent_points: "ended_at",
} as const satisfies Partial<Record<CopiedTable, string>>;
export type DatedTable = keyof typeof TIMES;
export const DATED_TABLES = Object.keys(TIMES) as DatedTable[];

/** An instant as ClickHouse's SQL writes it. */
export const instantIn = (instant: Date): string =>
  `toDateTime64('${instant.toISOString().slice(0, -1).replace("T", " ")}', 3, 'UTC')`;

const quoted = (name: string): string => `"${name}"`;

/** As ClickHouse reads it: a decimal of any length as text, and what it stores as text. */
function read(column: PgColumn): string {
  const name = `t.${quoted(column.name)}`;
  const type = column.getSQLType();
  if (type === "bytea") return `encode(${name}, 'hex') as ${quoted(column.name)}`;
  return type === "numeric" || type === "jsonb" ? `${name}::text as ${quoted(column.name)}` : name;
}

/** Rows of `from`, in which the table is called `t`: each as one JSON object, `line`, that ClickHouse takes. */
const linesOf = (name: CopiedTable, from: string): string =>
  `select json_strip_nulls(row_to_json(r))::text as line${
    isSummed(name) ? ", (extract(epoch from r.started_at) * 1000)::float8 as ms" : ""
  } from (
  select ${copiedColumns(name).map(read).join(", ")}, $1::text::bigint as version from ${from}) r`;

const isMovable = (name: CopiedTable, { name: column }: PgColumn): boolean =>
  name === "tool_calls" && column === TIMES[name];
/** What marks name a row by: its primary key in Postgres, the organisation first, and the hour of a start that may move. */
const keyOf = (name: CopiedTable): PgColumn[] => {
  const { columns, primaryKeys } = getTableConfig(COPIED[name].of);
  const named = new Set(primaryKeys.flatMap((key) => key.columns.map((column) => column.name)));
  return columns.filter((column) => named.has(column.name) || isMovable(name, column));
};
const keyIn = (name: CopiedTable, column: PgColumn): string =>
  isMovable(name, column)
    ? `date_trunc('hour', t.${quoted(column.name)}, 'UTC')`
    : `t.${quoted(column.name)}`;

const ownKeyOf = (name: CopiedTable): PgColumn[] => keyOf(name).filter(({ name }) => name !== "org_id");

/** The keys `k` that marks name, each once. Parameters as those of `markedRows`. */
const markedKeys = (name: CopiedTable): string => `(select distinct m.org_id, k.* from clickhouse_marks m
      cross join lateral jsonb_to_recordset(m.keys)
        as k(${ownKeyOf(name).map((column) => `${quoted(column.name)} ${column.getSQLType()}`)})
      where m.org_id = $2::text and m.id in (select value::uuid from json_array_elements_text($3::text::json))
    ) k`;
const isSame = (name: CopiedTable): string =>
  keyOf(name)
    .map((column) => `${keyIn(name, column)} = k.${quoted(column.name)}`)
    .join(" and ");

/** The rows that marks name, each once. Parameters: a version, the organisation, a JSON array of the marks' ids. */
export const markedRows = (name: CopiedTable): string =>
  linesOf(name, `${markedKeys(name)} join ${quoted(name)} t on ${isSame(name)}`);

/** A column as ClickHouse reads it in a parameter. */
const keyText = (column: PgColumn): string => {
  const name = `k.${quoted(column.name)}`;
  const type = column.getSQLType();
  if (type === "bytea") return `encode(${name}, 'hex')`;
  return type.startsWith("timestamptz")
    ? `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')`
    : `${name}::text`;
};

/** The keys that marks name without a row, as columns of texts. Parameters: the organisation and the marks' ids. */
export const goneKeys = (name: CopiedTable): string =>
  `select ${ownKeyOf(name).map((column) => `${keyText(column)} as ${quoted(column.name)}`)}
  from ${markedKeys(name).replace("$2", "$1").replace("$3", "$2")}
  where not exists (select from ${quoted(name)} t where ${isSame(name)})`;

/** Chooses the copies that have these keys. */
export function withKeys(name: CopiedTable, keys: readonly Record<string, string>[]) {
  const columns = ownKeyOf(name);
  const lists = columns.map((column, i) => {
    const list = `{k${i}:Array(${plainType(column)})}`;
    return isMovable(name, column) ? `arrayMap(x -> toDateTime(x, 'UTC'), ${list})` : list;
  });
  const texts = (column: PgColumn) => keys.map((key) => key[column.name] ?? "");
  return {
    where: `(${columns.map((column) => (isMovable(name, column) ? TOOL_HOUR : column.name))}) in ${lists.length > 1 ? `arrayZip(${lists})` : lists}`,
    params: Object.fromEntries(columns.map((column, i) => [`k${i}`, texts(column)])),
  };
}

/** The rows of a span of time. Parameters: a version, the organisation, and the span's first instant and its end. */
export const rowsBetween = (name: DatedTable): string =>
  linesOf(
    name,
    `${quoted(name)} t where t.org_id = $2::text and t.${TIMES[name]} >= $3::text::timestamptz
      and t.${TIMES[name]} < $4::text::timestamptz`,
  );

/** Marks every row of a table, a thousand by one mark. Parameter: the organisation. */
export function markAll(name: CopiedTable): string {
  const own = keyOf(name).map((column) => `${keyIn(name, column)} as ${quoted(column.name)}`);
  return `insert into clickhouse_marks (org_id, relation, rows, keys)
    select org_id, '${name}', count(*), jsonb_agg(to_jsonb(k) - 'org_id' - 'part') from (
      select ${own.join(", ")}, (row_number() over () - 1) / 1000 as part from ${quoted(name)} t where t.org_id = $1::text) k
    group by org_id, part`;
}
