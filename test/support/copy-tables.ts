import { expect } from "bun:test";
import type postgres from "postgres";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import { identityOf } from "#gateway/stores/clickhouse/identity.ts";
import {
  COPIED_TABLES,
  type CopiedTable,
  copiedColumns,
  createTables,
} from "#gateway/stores/clickhouse/schema.ts";
import { atEnd } from "./at-end.ts";

/** The tables of reports in an empty database of ClickHouse, and what copies an organisation's rows to them. */
export async function copyTables(clickhouseUrl: string, sql: postgres.Sql) {
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
      const rows = await sql.unsafe<{ row: Record<string, unknown> }[]>(rowsOf(table), [orgId]);
      const values = rows.map(({ row }) => ({ ...row, version }));
      if (values.length > 0) await client.insert({ table, values, format: "JSONEachRow" });
    }
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
  return `select to_jsonb(r) as row from (select ${columns.join(", ")} from ${table} where org_id = $1) r`;
}
