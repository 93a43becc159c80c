import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { UTC } from "../../reports/dimensions.ts";
import { CLICKHOUSE, POSTGRES } from "../../reports/engines.ts";
import { DAY_MS } from "../../reports/rollup/cover.ts";
import { askClickHouse } from "./client.ts";
import { type DatedTable, instantIn, TIMES } from "./rows.ts";
import { COPIED_TABLES, type CopiedTable } from "./schema.ts";

type Stores = { sql: postgres.Sql; client: ClickHouseClient };

/** Half-open: `from` ≤ time < `to`. */
export type DaySpan = { from: Date; to: Date };

/** Figures of a day that both databases must agree on: the number of rows with each value of `of`, and these sums. */
const FACTS: Readonly<Record<DatedTable, { of: string; sums: readonly string[] }>> = {
  requests: { of: "model", sums: ["cost_usd", "input_tokens", "output_tokens", "latency_ms"] },
  tool_calls: { of: "tool", sums: ["cost_usd", "latency_ms"] },
  agent_points: { of: "model", sums: ["cost_usd", "tokens", "operations"] },
};

type Group = { name: string; rows: string } & Record<string, string | null>;

/** A statement that both engines understand; `rows` is the relation, and `at` writes an instant. */
function factsOf({ table, span: { from, to }, by }: Compared, { rows, at, day }: Dialect): string {
  const { of, sums } = FACTS[table];
  const name = by === "day" ? day(TIMES[table]) : `coalesce(${of}, '')`;
  const columns = sums.map((column) => `sum(${column}) as sum_${column}`);
  return `select ${name} as name, count(*) as rows, ${columns.join(", ")} from ${rows}
  where org_id = '${DEFAULT_ORG}' and ${TIMES[table]} >= ${at(from)} and ${TIMES[table]} < ${at(to)}
  group by ${name}`;
}

/** `by`: the models or tools of a span, or its days (UTC). */
type Compared = { table: DatedTable; span: DaySpan; by: "of" | "day" };
type Dialect = { rows: string; at(instant: Date): string; day(at: string): string };

/** A row that ClickHouse refused is in Postgres alone, and reports say that they lack some. */
const inPostgres = (table: DatedTable): Dialect => ({
  rows:
    table === "requests"
      ? `(select * from requests r where not exists (
    select from dead_records d where d.org_id = r.org_id and d.id = r.id and d.code like 'clickhouse %')) r`
      : table,
  at: (instant) => `timestamptz '${instant.toISOString()}'`,
  day: (at) => POSTGRES.day(at, UTC),
});

const inClickHouse = (table: DatedTable): Dialect => ({
  rows: `${table} final`,
  at: instantIn,
  day: (at) => CLICKHOUSE.day(at, UTC),
});

/** By name: the rows and the sums, as one text. */
const textsOf = (table: DatedTable, groups: readonly Group[]): Map<string, string> =>
  new Map(
    groups.map((group) => {
      const sums = FACTS[table].sums.map((column) => `${column} ${exactText(group[`sum_${column}`])}`);
      return [group.name, [`${group.rows} rows`, ...sums].join(", ")];
    }),
  );

const exactText = (sum: string | null | undefined): string =>
  sum == null ? "unknown" : formatDecimal(parseDecimal(sum));

/** How the databases differ in a span: a sentence per model or tool, never a person; none where they agree. */
export async function differences(
  { sql, client }: Stores,
  table: DatedTable,
  span: DaySpan,
): Promise<string[]> {
  const found = await apart({ sql, client }, { table, span, by: "of" });
  return found.map(
    ({ name, here, there }) =>
      `${FACTS[table].of} ${name || "(none)"}: Postgres has ${here}; ClickHouse has ${there}`,
  );
}

async function apart({ sql, client }: Stores, compared: Compared) {
  const { table } = compared;
  const [ours, copies] = await Promise.all([
    sql.unsafe<Group[]>(factsOf(compared, inPostgres(table))),
    askClickHouse<Group>(client, factsOf(compared, inClickHouse(table))),
  ]);
  const [here, there] = [textsOf(table, ours), textsOf(table, copies)];
  return [...new Set([...here.keys(), ...there.keys()])].flatMap((name) => {
    const both = { name, here: here.get(name) ?? "0 rows", there: there.get(name) ?? "0 rows" };
    return both.here === both.there ? [] : [both];
  });
}

/** The tables without days that do not have the same number of rows in both databases. */
export async function tablesApart({ sql, client }: Stores): Promise<CopiedTable[]> {
  const found: CopiedTable[] = [];
  for (const name of COPIED_TABLES.filter((it) => !(it in TIMES))) {
    const count = (rows: string) => `select count(*) as n from ${rows} where org_id = '${DEFAULT_ORG}'`;
    const [ours] = await sql.unsafe<{ n: string }[]>(count(name));
    const [theirs] = await askClickHouse<{ n: string }>(client, count(`${name} final`));
    if (ours?.n !== theirs?.n) found.push(name);
  }
  return found;
}

/** The first instant that a table has in either database since records were dropped last. */
async function firstOf({ sql, client }: Stores, table: DatedTable): Promise<Date | null> {
  const at = TIMES[table];
  const [ours] = await sql.unsafe<{ at: Date | null; since: Date | null }[]>(
    `select (select min(${at}) from ${table} where org_id = $1::text) as at,
      (select raw_from from rollup_state where org_id = $1::text) as since`,
    [DEFAULT_ORG],
  );
  const since = instantIn(ours?.since ?? new Date(0));
  const query = `select toUnixTimestamp64Milli(min(${at})) as ms, count() as n from ${table}
    where org_id = '${DEFAULT_ORG}' and ${at} >= ${since}`;
  const [theirs] = await askClickHouse<{ ms: string; n: string }>(client, query);
  const all = [
    ...(ours?.at ? [ours.at.getTime()] : []),
    ...(Number(theirs?.n) > 0 ? [Number(theirs?.ms)] : []),
  ];
  return all.length > 0 ? new Date(Math.min(...all)) : null;
}

/** Days (UTC) before `end` on which the databases differ, month by month; `again`: whether to look once more. */
export async function daysApart(
  stores: Stores,
  { table, end }: { table: DatedTable; end: Date },
  again: () => Promise<boolean>,
): Promise<DaySpan[]> {
  const found: DaySpan[] = [];
  let from = (await firstOf(stores, table)) ?? end;
  from = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()));
  while (from < end) {
    const month = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1);
    const to = new Date(Math.min(month, end.getTime()));
    const compared = { table, span: { from, to }, by: "day" } as const;
    let days = await apart(stores, compared);
    while (days.length > 0 && (await again())) days = await apart(stores, compared);
    for (const { name } of days)
      found.push({ from: new Date(name), to: new Date(Math.min(Date.parse(name) + DAY_MS, end.getTime())) });
    from = to;
  }
  return found.sort((a, b) => a.from.getTime() - b.from.getTime());
}
