import { expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { testDatabase } from "#test/support/postgres.ts";

test("a fresh test database is migrated", async () => {
  let t = performance.now();
  const database = await testDatabase();
  console.log("first", performance.now() - t);
  t = performance.now();
  const other = await testDatabase();
  console.log("second", performance.now() - t);
  const { sql, close } = openDatabase(database.url, { name: "test", max: 1, statementTimeoutMs: 1000 });
  expect(await sql`select count(*)::int as n from requests`).toEqual([{ n: 0 }] as never);
  await close();
  await other.close();
  await database.close();
});
