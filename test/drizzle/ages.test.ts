import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { AGES, FORGET_AGENTS } from "#drizzle/ages.ts";
import { expireAll } from "#drizzle/expire.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

let sql: postgres.Sql;
beforeAll(async () => {
  sql = testSql((await testDatabase()).url);
});

test("every table of the database has an age, or a reason why it has none", async () => {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p') and not c.relispartition order by 1`;
  expect(Object.keys(AGES).toSorted()).toEqual(tables.map(({ name }) => name));
});

/** Values of columns that have neither a default nor null. */
const VALUES: Readonly<Record<string, string>> = {
  uuid: "gen_random_uuid()",
  text: "gen_random_uuid()::text",
  "text[]": "'{}'",
  jsonb: "'{}'",
  json: "'{}'",
  bytea: "gen_random_uuid()::text::bytea",
  boolean: "true",
  date: "now()",
};

/** A row of the table as of then, with the columns that `over` names as it says. */
async function insert(table: string, over: Record<string, string>): Promise<void> {
  const columns = await sql<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attnotnull and not atthasdef`;
  const values = { ...Object.fromEntries(columns.map((it) => [it.name, VALUES[it.type] ?? ""])), ...over };
  const timed = Object.entries(values).map(([name, value]) => [name, value || "1"] as const);
  const named = timed.map(([name]) => name).join(", ");
  const times = columns.filter(({ type }) => type.startsWith("timestamp")).map(({ name }) => name);
  const given = timed
    .map(([name, value]) => (times.includes(name) && !over[name] ? "now()" : value))
    .join(", ");
  await sql.unsafe(`insert into ${table} (${named}) values (${given})`);
}

const count = async (table: string) => (await sql.unsafe(`select 1 from ${table}`)).length;
const DAY = (days: number) => `now() - interval '${days} days'`;

test("rows go once they are older than their table allows, and no sooner", async () => {
  await sql`insert into rollup_state (rolled_to, raw_from) values (now(), ${"2026-01-01"})`;
  for (const [table, age] of Object.entries(AGES)) {
    const column = "kept" in age ? null : /^it\.(\w+)$/.exec(age.since)?.[1];
    if ("kept" in age || !column) continue;
    const [old, young] =
      age.days === "retention"
        ? ["'2025-12-31 23:59:59'", "'2026-01-01'"]
        : [DAY(age.days + 1), DAY(age.days - 1)];
    for (const at of [old, young]) {
      await insert(table, { [column]: at, ...(table === "batches" && { reconciled_at: "now()" }) });
    }
    expect(await count(table)).toBe(2);
  }
  await insert("batches", { started_at: "'2025-12-31'" });
  await sql`insert into pull_requests (repository_id, number, state, merged_at, link, session_ids, reverts_by_body, reverts_by_sha, evidence)
    select 1, n, 'merged', now() - n * interval '1 day', 'joined', '{named}', '[]', '{}', '[]' from unnest(array[89, 91]) n`;
  for (const number of ["89", "91"])
    await insert("github_feedback", { kind: "'check'", repository_id: "1", number });
  await insert("session_links", { of_session: "'named'", declared_at: "'2025-12-31'" });
  await insert("files", { deleted_at: DAY(31) });
  await insert("files", { expires_at: DAY(31) });
  await insert("files", { created_at: DAY(900) });
  const deleted: Record<string, number> = {};
  await expireAll(sql, (table, rows) => {
    deleted[table] = rows;
  });
  const aged = Object.entries(AGES).filter(([, age]) => !("kept" in age));
  expect(deleted).toEqual({ ...Object.fromEntries(aged.map(([table]) => [table, 1])), files: 2 });
});

test("an old table goes a few rows at a time, whoever else deletes", async () => {
  await sql`
    insert into tool_calls (origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, client, tags)
    select 'old', i::text, gen_random_uuid(), '2020-01-01', 'hook', 'ok', 2, '2020-01-01', gen_random_uuid(), 'x', '{}'
    from generate_series(1, 12000) i`;
  let rows = 0;
  const add = (_: string, more: number) => {
    rows += more;
  };
  await Promise.all([expireAll(sql, add), expireAll(sql, add)]);
  expect(rows).toBe(12_000);
});

test("agents' ids of a session stay as long as it has a record, a link or a pull request", async () => {
  for (const session of ["gone", "named", "linked"])
    await insert("session_agents", { session: `'${session}'` });
  await insert("session_links", { session: "'linked'" });
  await sql.unsafe(FORGET_AGENTS);
  const left = await sql`select session from session_agents order by session`;
  expect(left.map(({ session }) => session)).toEqual(["linked", "named"]);
});
