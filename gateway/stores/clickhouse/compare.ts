import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type DatedTable, instantIn, TIMES } from "./rows.ts";

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
function factsOf(table: DatedTable, { from, to }: DaySpan, { rows, at }: Dialect): string {
  const { of, sums } = FACTS[table];
  const columns = sums.map((column) => `sum(${column}) as sum_${column}`);
  return `select coalesce(${of}, '') as name, count(*) as rows, ${columns.join(", ")} from ${rows}
  where org_id = '${DEFAULT_ORG}' and ${TIMES[table]} >= ${at(from)} and ${TIMES[table]} < ${at(to)}
  group by coalesce(${of}, '')`;
}

type Dialect = { rows: string; at(instant: Date): string };

const inPostgres = (table: DatedTable): Dialect => ({
  rows: table,
  at: (instant) => `timestamptz '${instant.toISOString()}'`,
});

const inClickHouse = (table: DatedTable): Dialect => ({
  rows: `${table} final`,
  at: instantIn,
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

/**
 * Where the two databases disagree about a span: a sentence for each model or tool; none where they agree. Names are those of
 * models and tools, never of persons.
 */
export async function differences(
  { sql, client }: { sql: postgres.Sql; client: ClickHouseClient },
  table: DatedTable,
  span: DaySpan,
): Promise<string[]> {
  const [ours, copies] = await Promise.all([
    sql.unsafe<Group[]>(factsOf(table, span, inPostgres(table))),
    client
      .query({ query: factsOf(table, span, inClickHouse(table)), format: "JSONEachRow" })
      .then((answer) => answer.json<Group>()),
  ]);
  const [here, there] = [textsOf(table, ours), textsOf(table, copies)];
  return [...new Set([...here.keys(), ...there.keys()])].flatMap((name) => {
    const [postgresHas, clickhouseHas] = [here.get(name) ?? "0 rows", there.get(name) ?? "0 rows"];
    if (postgresHas === clickhouseHas) return [];
    return [
      `${FACTS[table].of} ${name || "(none)"}: Postgres has ${postgresHas}; ClickHouse has ${clickhouseHas}`,
    ];
  });
}
