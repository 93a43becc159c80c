import { expect, test } from "bun:test";
import { migrate } from "#drizzle/migrate.ts";
import { migrationsUntil } from "#test/support/earlier-migrations.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

test("headers that the audit log had whole keep their ends, and its other entries stay as they were", async () => {
  const { url } = await testDatabase();
  const sql = testSql(url);
  await sql.unsafe("drop schema public, drizzle cascade; create schema public");
  await migrate(url, migrationsUntil("0002_record_changes"));
  const headers = { "x-secret": "Bearer 0123456789", "x-short": "abc", "X-Title": "whole" };
  const state = { name: "p", headers, enabled: true };
  const insert = (action: string, one: object | null, other: object | null) => sql`
    insert into audit_entries (id, at, actor, action, subject, before, after)
    values (gen_random_uuid(), now(), 'a', ${action}, 'p', ${sql.json(one as never)}, ${sql.json(other as never)})`;
  await insert("provider.set", null, state);
  await insert("provider.deleted", state, null);
  await insert("route.set", { headers }, { name: "r" });
  await migrate(url);
  const masked = { ...state, headers: { "x-secret": "…6789", "x-short": "…", "X-Title": "whole" } };
  expect([
    ...(await sql`select action, nullif(before, 'null') as before, nullif(after, 'null') as after
      from audit_entries order by action`),
  ]).toEqual([
    { action: "provider.deleted", before: masked, after: null },
    { action: "provider.set", before: null, after: masked },
    { action: "route.set", before: { headers }, after: { name: "r" } },
  ]);
  await expect(sql`update audit_entries set actor = 'b'`.then(String)).rejects.toThrow("cannot be changed");
});
