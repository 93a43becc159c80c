import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";
import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { beginMarking, markSmall } from "./begin.ts";
import { checkPublishedSums, isChecked } from "./check-sums.ts";
import { askClickHouse, openClickHouse } from "./client.ts";
import { onCluster, type Place, storedIn } from "./cluster.ts";
import { ALL_TABLES, createTable, createTables } from "./schema.ts";

// A database of ClickHouse has a random identity, which Postgres knows. One whose tables were dropped, an older copy or
// another server is never taken for the database that has the records (decision: A database in ClickHouse knows itself).

type Stores = { sql: postgres.Sql; client: ClickHouseClient; place: Place };

/** Errors that mean that a table or the database does not exist. */
const MISSING = new Set(["60", "81"]);
export const isMissing = (error: unknown): boolean =>
  error instanceof ClickHouseError && MISSING.has(error.code);

const FIND = `select (select toString(id) from identity final limit 1) as id,
  (select count() from system.tables where database = currentDatabase()
    and name in ('${ALL_TABLES.join("', '")}')) as tables`;

/** Asks Postgres for the identity of the database to which every row is copied; no row: not assigned yet. */
export const WHOLE = `select database_id::text as id from clickhouse_state where org_id = '${DEFAULT_ORG}' and compared_at is not null`;

/** The identity of the database; null if it has none, or if a table with copies is missing. */
export async function identityOf(client: ClickHouseClient): Promise<string | null> {
  try {
    const [found] = await askClickHouse<{ id: string | null; tables: string }>(client, FIND);
    return Number(found?.tables) === ALL_TABLES.length ? found?.id || null : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Makes what is missing in ClickHouse, and has rows marked from then on. If it is not the database that rows were copied to,
 * then the marks and moves made for that one are void, and copying starts again. Any number of processes may do so. Returns
 * the names of the tables whose rows `move-records` must copy.
 */
export async function prepare({ sql, client, place }: Stores): Promise<string[]> {
  await sql`insert into clickhouse_state (org_id, version) values (${DEFAULT_ORG}, 0) on conflict do nothing`;
  // Rows wait for a database that is away from the start.
  await beginMarking(sql);
  const known = await identityOf(client);
  // Whoever is killed while tables are made leaves no identity.
  if (known === null) await forgetIdentity(client, place);
  await makeTables(client, place);
  await orderByHour({ sql, client, place });
  await sql.begin(async (tx) => {
    const [state] = await tx<{ id: string | null; now: string }[]>`
      select database_id::text as id, (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as now
      from clickhouse_state where org_id = ${DEFAULT_ORG} for update`;
    const id = known ?? crypto.randomUUID();
    if (known === null) {
      const values = [{ org_id: DEFAULT_ORG, id, version: state?.now }];
      await client.insert({ table: "identity", values, format: "JSONEachRow" });
    }
    if (state?.id === id) return;
    // Of whatever was there: calls are summed up as they are copied.
    for (const sums of ["summed", "sums"]) {
      await client.command({ query: `truncate table ${sums}${onCluster(place.cluster)}` });
    }
    await tx`
      update clickhouse_state set database_id = ${id}, compared_at = null,
        sums_from = (select raw_from from rollup_state where org_id = ${DEFAULT_ORG}) where org_id = ${DEFAULT_ORG}`;
    if (state?.id == null) return;
    await tx`update clickhouse_state set version = 0 where org_id = ${DEFAULT_ORG}`;
    await tx`delete from clickhouse_marks where org_id = ${DEFAULT_ORG}`;
    await tx`delete from clickhouse_moves where org_id = ${DEFAULT_ORG}`;
  });
  const unmoved = await beginMarking(sql);
  // If that fails, reports read single records until the next look, and rows are copied all the same.
  if (!(await isChecked(client))) await checkPublishedSums({ sql, client }).catch(() => undefined);
  return unmoved;
}

/** Reports had to read all tool calls in the order that an earlier release stored them in, so they are copied again. */
async function orderByHour({ sql, client, place: { cluster } }: Stores): Promise<void> {
  const stored = storedIn("tool_calls", cluster);
  const query = `select 1 from system.tables where database = currentDatabase() and name = '${stored}'
    and engine like '%ReplacingMergeTree' and sorting_key not like '%started_at%'`;
  const isEarlier = async () => (await askClickHouse(client, query)).length > 0;
  if (!(await isEarlier())) return;
  // If the process is killed after this, reports read Postgres.
  await sql`
    with gone as (delete from clickhouse_moves where org_id = ${DEFAULT_ORG} and relation = 'tool_calls')
    update clickhouse_state set compared_at = null where org_id = ${DEFAULT_ORG}`;
  await sql.begin(async (tx) => {
    await tx`select 1 from clickhouse_state where org_id = ${DEFAULT_ORG} for update`;
    if (!(await isEarlier())) return;
    await markSmall(tx, "tool_calls");
    const [table = ""] = createTable("tool_calls", cluster);
    // A replicated table leaves its path in Keeper before the next one takes it.
    if (cluster) await client.command({ query: `drop table if exists ${stored}${onCluster(cluster)} sync` });
    await client.command({
      query: cluster ? table : table.replace("create table if not exists", "create or replace table"),
    });
  });
}

const forgetIdentity = (client: ClickHouseClient, { cluster }: Place) =>
  client
    .command({ query: `drop table if exists identity${onCluster(cluster)} sync` })
    .catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error)));

/** Makes tables and columns that are missing, and the database, if the user may. */
async function makeTables(client: ClickHouseClient, { url, cluster }: Place): Promise<void> {
  try {
    for (const query of createTables(cluster)) await client.command({ query });
  } catch (error) {
    if (!isMissing(error)) throw error;
    const address = new URL(url);
    const name = decodeURIComponent(address.pathname.slice(1));
    address.pathname = "/default";
    const outside = openClickHouse(address.href, { name: "records", timeoutMs: 30_000, connectionsMax: 1 });
    const quoted = name.replaceAll(/[\\`]/g, "\\$&");
    const query = `create database if not exists \`${quoted}\`${onCluster(cluster)}`;
    await outside.command({ query }).finally(() => outside.close());
    for (const again of createTables(cluster)) await client.command({ query: again });
  }
}

/** Whether ClickHouse has the database that Postgres knows, and cells in it, which do not make it another one. */
export async function isKnown(sql: postgres.Sql, client: ClickHouseClient): Promise<boolean> {
  const [state] = await sql<{ id: string | null }[]>`
    select database_id::text as id from clickhouse_state where org_id = ${DEFAULT_ORG}`;
  if (state?.id == null || state.id !== (await identityOf(client))) return false;
  const query = "select 1 from system.tables where database = currentDatabase() and name = 'cells'";
  return (await askClickHouse(client, query)).length > 0;
}
