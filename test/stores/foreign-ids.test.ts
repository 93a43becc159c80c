import { expect, test } from "bun:test";
import { connect, openDatabase } from "#drizzle/database.ts";
import { openOwnership } from "#gateway/stores/foreign-ids.ts";
import { keptIdHash } from "#shared/kept-ids.ts";
import { createLog } from "#shared/log.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const OWN = "00000000-0000-4000-8000-000000000000";
const CALLS = 20_000;

test.each([1, 300])("looking %p items up reads an index, not all records", async (count) => {
  const { url } = await testDatabase();
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const ids = Array.from({ length: count }, (_, n) => `msg_${n}`);
  await sql`insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, client,
      tags, key_id, usage_source, unpriced, partial, kept_id, kept_ids)
    select gen_random_uuid(), now(), 'responses', 'api', 'ok', true, 1, 'r', 'model', 'c', '{}', ${OWN}::text::uuid, 'none', true,
      false, 'resp_' || n, array[case when n <= ${count} then ${JSON.stringify(ids.map(keptIdHash))}::text::jsonb ->> (n - 1) else md5(n::text) end,
        md5('other ' || n)]
    from generate_series(1, ${CALLS}) n`;
  await sql`analyze requests`;
  const scans = async () => {
    const [row] = await sql<{ whole: number; index: number }[]>`
      select sum(seq_scan)::int as whole, (select sum(idx_scan)::int from pg_stat_user_indexes where indexrelname like '%kept_ids%') as index
      from pg_stat_user_tables where relname like 'requests%'`;
    return row ?? { whole: 0, index: 0 };
  };
  const before = await scans();

  const database = openDatabase(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const ask = openOwnership(database, createLog("test", "fatal"), async () => {});
  expect(await ask.refersToForeign(OWN, { kept: ["resp_1"], items: ids, files: [] })).toBe(false);
  const other = "00000000-0000-4000-8000-000000000001";
  expect(await ask.refersToForeign(other, { kept: ["resp_none"], items: ids.slice(-1), files: [] })).toBe(
    true,
  );
  await database.close();
  // A connection's statistics are there after its end.
  let after = before;
  await until(async () => {
    after = await scans();
    return after.whole + after.index > before.whole + before.index;
  });
  expect(after.whole).toBe(before.whole);
  await sql.end();
});

test("while Postgres is away, calls go on unchecked", async () => {
  const nowhere = "postgres://nobody@127.0.0.1:1/none";
  const database = openDatabase(nowhere, { name: "test", max: 1, statementTimeoutMs: 1000 });
  const ask = openOwnership(database, createLog("test", "fatal"), async () => {});
  for (const references of [
    { kept: ["resp_1"], items: [], files: [] },
    { kept: [], items: ["msg_1"], files: ["file_1"] },
  ]) {
    expect(await ask.refersToForeign(OWN, references)).toBe(false);
  }
  await database.close();
});
