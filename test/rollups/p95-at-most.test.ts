import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import {
  BUCKET_FLOORS_MS,
  LATENCY_OF_ONE,
  p95Sql,
  withP95AtMost,
} from "#gateway/reports/rollup/latencies.ts";
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

/** Histograms of 1 to 64 calls each, of few near buckets and of many far ones, where ranks change sides at 21 and 41 calls. */
const HISTOGRAMS = `
  select n as id, sum(${LATENCY_OF_ONE}) as latencies, count(*) as calls
  from generate_series(1, 6400) n
  cross join lateral (
    select (${`array[${BUCKET_FLOORS_MS.join(",")}]`})[1 + (hashint4(n * 1009 + i) & 1023) % (1 + n * 7 % 76)] as latency_ms
    from generate_series(0, n % 64) i
  ) r group by n`;

test("no group's percentile exceeds what it is said to be at most", async () => {
  const rows = await sql.unsafe<{ over: string; exact: string; all: string }[]>(`
select count(*) filter (where p95 > at_most)::text as over, count(*) filter (where at_most - p95 < 0.01)::text as exact, count(*)::text as all
from (select at_most, ${p95Sql("latencies::text")} as p95 from (${withP95AtMost(HISTOGRAMS)}) b) b`);
  expect(rows[0]).toMatchObject({ over: "0", all: "6400" });
  // It is worth its time: for most it is what it limits.
  expect(Number(rows[0]?.exact)).toBeGreaterThan(4500);
});

test("without a known latency nothing is said", async () => {
  const [row] = await sql.unsafe<{ at_most: number | null }[]>(
    `select at_most from (${withP95AtMost("select null::numeric as latencies, 0::bigint as calls")}) b`,
  );
  expect(row?.at_most).toBeNull();
});
