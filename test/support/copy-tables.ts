import { expect } from "bun:test";
import type { ClickHouseClient } from "@clickhouse/client";
import type postgres from "postgres";
import { cellsSql, daySql, hoursSql, LEVELS, type Summed } from "#gateway/reports/buckets/columns.ts";
import { RECORDS } from "#gateway/reports/relations.ts";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { identityOf } from "#gateway/stores/clickhouse/identity.ts";
import { insertRows } from "#gateway/stores/clickhouse/insert.ts";
import { nextVersion } from "#gateway/stores/clickhouse/marks.ts";
import {
  COPIED_TABLES,
  type CopiedTable,
  copiedColumns,
  createTables,
} from "#gateway/stores/clickhouse/schema.ts";
import {
  publishSums,
  SUM_SETTINGS,
  sumUp as sumUpDue,
  voidHours,
} from "#gateway/stores/clickhouse/sum-up.ts";
import { atEnd } from "./at-end.ts";

const ROWS_AT_ONCE = 10_000;

/** The tables of reports in an empty database of ClickHouse, and what copies an organisation's rows to them. */
export async function copyTables(clickhouseUrl: string, sql: postgres.Sql, sums = true) {
  const client = openClickHouse(clickhouseUrl, { name: "test", timeoutMs: 60_000, connectionsMax: 2 });
  atEnd(() => client.close());
  for (const query of createTables()) await client.command({ query });
  // Rows come by `wrote`, so they count as compared.
  const [state] = await sql<{ id: string }[]>`
    insert into clickhouse_state (version, database_id, compared_at) values (1, gen_random_uuid(), now())
    on conflict (org_id) do update set version = 1 returning database_id::text as id`;
  const known = { org_id: "default", id: state?.id, version: 1 };
  await client.insert({ table: "identity", values: [known], format: "JSONEachRow" });
  expect(await identityOf(client)).toBe(state?.id ?? "");
  let version = 0;
  const wrote = async (orgId: string) => {
    version++;
    for (const table of COPIED_TABLES) {
      const all = sql.unsafe<{ line: string }[]>(rowsOf(table), [orgId, version]).cursor(ROWS_AT_ONCE);
      for await (const rows of all) {
        const lines = rows.map(({ line }) => line);
        await insertRows(client, { name: table, lines, token: crypto.randomUUID() }, (_, code) => {
          throw new Error(`ClickHouse refused a row: ${code}`);
        });
      }
    }
    if (sums) await sumUpAll(client, sql, orgId);
  };
  return { clickhouseUrl, wrote };
}

/** Rows as Postgres itself writes them as JSON, with every digit of decimals. */
function rowsOf(table: CopiedTable): string {
  const columns = copiedColumns(table).map((column) => {
    const type = column.getSQLType();
    if (type === "bytea") return `encode(${column.name}, 'hex') as ${column.name}`;
    return type === "numeric" || type === "jsonb" ? `${column.name}::text` : column.name;
  });
  return `select json_strip_nulls(row_to_json(r))::text as line from (
    select ${columns.join(", ")}, $2::int as version from ${table} where org_id = $1) r`;
}

const VOID_EVERY = 5;
const DAY_MS = 86_400_000;

/** Sums of all hours that are over, as a gateway keeps them. */
async function sumUpAll(client: ClickHouseClient, sql: postgres.Sql, orgId: string, voidEvery = VOID_EVERY) {
  const sumUp = (source: Summed) => sumUpSource(client, sql, { source, orgId, voidEvery });
  await sumUp("requests");
  await sumUp("tool_calls");
}

/** The same, a day at a time, as a gateway does when records were moved. */
export async function sumUpByDay(client: ClickHouseClient, sql: postgres.Sql) {
  for (const source of ["requests", "tool_calls"] as const) {
    const hours = await hoursOf(client, source, "default");
    await voidHours(client, { source, hours, version: "1" });
  }
  while (await sumUpDue({ sql, client }, { now: new Date(), next: nextVersion }));
}

async function hoursOf(client: ClickHouseClient, source: Summed, orgId: string): Promise<number[]> {
  const query = `select distinct toUnixTimestamp64Milli(toDateTime64(toStartOfHour(started_at, 'UTC'), 3, 'UTC')) as ms
    from ${source} where org_id = '${orgId}'`;
  const rows = await (await client.query({ query, format: "JSONEachRow" })).json<{ ms: string }>();
  return rows.map(({ ms }) => Number(ms));
}

async function sumUpSource(
  client: ClickHouseClient,
  sql: postgres.Sql,
  { source, orgId, voidEvery }: { source: Summed; orgId: string; voidEvery: number },
) {
  const at = await hoursOf(client, source, orgId);
  const run = (statement: string) => client.command({ query: `${statement} settings ${SUM_SETTINGS}` });
  const publish = (level: "hour" | "day" | "all", all: Iterable<number>, gen: string) =>
    publishSums(
      client,
      orgId,
      [...all].map((atMs) => ({ level: LEVELS[source][level], atMs, gen, ready: true })),
    );
  await publish("all", [0], "1");
  if (at.length === 0) return;
  const [hourly, daily, next] = [await nextVersion(sql), await nextVersion(sql), await nextVersion(sql)];
  const records = `(select * from ${RECORDS[source]} r where r.org_id = '${orgId}')`;
  await run(hoursSql(source, records, hourly));
  await run(
    daySql(source, `org_id = '${orgId}' and level = '${LEVELS[source].hour}' and gen = ${hourly}`, daily),
  );
  if (source === "requests") await run(cellsSql(records, daily));
  await publish("hour", at, hourly);
  await publish("day", new Set(at.map((ms) => Math.floor(ms / DAY_MS) * DAY_MS)), daily);
  // Some are void, as those of which a call has just changed.
  await voidHours(client, { source, hours: at.filter((_, i) => i % voidEvery === 1), version: next, orgId });
}
