import type postgres from "postgres";
import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";
import {
  COPIED_TABLES,
  type CopiedTable,
  columnsOf,
  createTables,
} from "#gateway/stores/clickhouse/schema.ts";
import { atEnd } from "./at-end.ts";
import { HAS_CLICKHOUSE, startClickHouse } from "./clickhouse.ts";

/** The databases that answer reports here. */
export const ENGINES = HAS_CLICKHOUSE ? (["Postgres", "ClickHouse"] as const) : (["Postgres"] as const);
type EngineName = (typeof ENGINES)[number];

export type ReportEngine = {
  /** For `reportRunner`. */
  clickhouseUrl: string | null;
  /** Called when rows of an organisation were written to Postgres: shows them to the engine as they are now. */
  wrote(orgId: string): Promise<void>;
};

/** An engine over the records of a database of Postgres; what it needs ends with the test or the file. */
export async function reportEngine(name: EngineName, sql: postgres.Sql): Promise<ReportEngine> {
  if (name === "Postgres") return { clickhouseUrl: null, wrote: async () => undefined };
  const server = await startClickHouse();
  const clickhouseUrl = await server.database();
  const client = openClickHouse(clickhouseUrl, { name: "test", timeoutMs: 60_000, connectionsMax: 2 });
  atEnd(() => client.close());
  for (const query of createTables()) await client.command({ query });
  let version = 0;
  return {
    clickhouseUrl,
    async wrote(orgId) {
      version++;
      for (const table of COPIED_TABLES) {
        const rows = await sql.unsafe<{ row: Record<string, unknown> }[]>(rowsOf(table), [orgId]);
        const values = rows.map(({ row }) => ({ ...row, version }));
        if (values.length > 0) await client.insert({ table, values, format: "JSONEachRow" });
      }
    },
  };
}

/** Rows as Postgres itself writes them as JSON, with every digit of decimals. */
function rowsOf(table: CopiedTable): string {
  const columns = columnsOf(table).map((column) => {
    const type = column.getSQLType();
    if (type === "bytea") return `encode(${column.name}, 'hex') as ${column.name}`;
    return type === "numeric" || type === "jsonb" ? `${column.name}::text` : column.name;
  });
  return `select to_jsonb(r) as row from (select ${columns.join(", ")} from ${table} where org_id = $1) r`;
}
