import { expect, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY, migrate } from "#drizzle/migrate.ts";
import { scratch } from "#test/support/embedded.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

const place = scratch();

/** The migrations before the one that has this name. */
function before(name: string): string {
  const older = join(place.path, "migrations");
  cpSync(MIGRATIONS_DIRECTORY, older, { recursive: true });
  const file = join(older, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(file, "utf8"));
  const at = journal.entries.findIndex(({ tag }: { tag: string }) => tag.endsWith(name));
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, at) }));
  return older;
}

test("headers that the audit log had whole keep their ends, and its other entries stay as they were", async () => {
  const { url } = await testDatabase();
  const sql = testSql(url);
  await sql.unsafe("drop schema public, drizzle cascade; create schema public");
  await migrate(url, before("secret_headers"));
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
