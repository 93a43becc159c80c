import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

let database: TestDatabase;
let sql: postgres.Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

/** Processes that are alive: they belong to no organisation, and no report reads them. */
const OF_NOBODY = ["limit_holders"];

test("every table has a primary key that begins with the organisation, or is replicated by whole rows; so do unique indexes", async () => {
  const keys = await sql<
    { table: string; name: string; isPrimary: boolean; isWhole: boolean; columns: string[] }[]
  >`
    select c.relname as table, n.relname as name, c.relreplident = 'f' as "isWhole", i.indisprimary as "isPrimary",
      array(select a.attname::text from unnest(i.indkey) with ordinality k(column_number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.column_number order by k.place) as columns
    from pg_class c left join pg_index i on i.indrelid = c.oid and i.indisunique left join pg_class n on n.oid = i.indexrelid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`;
  const ours = keys.filter(({ table, isWhole }) => !OF_NOBODY.includes(table) && !isWhole);
  expect(ours.length).toBeGreaterThan(20);
  expect(ours.filter(({ columns }) => columns[0] !== "org_id")).toEqual([]);
  const keyed = new Set(ours.filter(({ isPrimary }) => isPrimary).map(({ table }) => table));
  expect(ours.filter(({ table }) => !keyed.has(table))).toEqual([]);
});

test("there are no sequences and no foreign keys, so that tables can lie apart", async () => {
  expect([
    ...(await sql`select relname from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace`),
  ]).toEqual([]);
  expect([
    ...(await sql`select conname from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`),
  ]).toEqual([]);
});

test("labels are compared byte by byte, whatever the server's own language", async () => {
  const columns = await sql`
    select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
    left join pg_collation l on l.oid = a.attcollation
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and a.attnum > 0
      and a.atttypid in ('text'::regtype, 'text[]'::regtype) and l.collname <> 'C'`;
  expect([...columns]).toEqual([]);
});
