import { afterAll, beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { MeasureName, Spec } from "#shared/report.ts";
import { ROWS_MAX } from "#shared/report.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

const NOW = new Date("2026-11-21T12:34:56Z");
const SESSIONS = 2_600;

/** Sessions of one to three calls over 20 days, half of them by people of whom some share a session. */
const CALLS = `
insert into requests (org_id, id, started_at, surface, channel, state, streamed, attempts, route, route_source, model,
  key_id, owner, session, client, tags, latency_ms, usage_source, input_tokens, output_tokens, cost_usd, token_cost_usd,
  unpriced, partial)
select 'default', uuidv7(), timestamptz '2026-11-01T00:10:00Z' + make_interval(hours => n * 7 % 480), 'chat',
  case when n % 11 = 0 then 'subscription' else 'api' end, 'ok', true, 1, 'r' || n % 3, 'model', 'm' || (n + call) % 4,
  '00000000-0000-7000-8000-000000000001', 'p' || (n + call) % 37, 's' || lpad(n::text, 5, '0'), 'cli', '{}',
  10 + n * 37 % 9000, 'provider', n % 100, n % 50, (n * 7919 % 4001) / 1000.0, (n * 7919 % 4001) / 1000.0, false, false
from generate_series(1, ${SESSIONS}) n cross join lateral generate_series(1, 1 + n % 3) call`;

let database: TestDatabase;
let sql: postgres.Sql;
let rolled: ReportRunner;
let single: ReportRunner;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await sql.unsafe(CALLS);
  const rollups = openRollups({ url: database.url });
  await rollups.catchUp(NOW);
  await rollups.close();
  rolled = reportRunner({ url: database.url, rollupsFrom: 0 });
  single = reportRunner({ url: database.url, rollupsFrom: Number.POSITIVE_INFINITY });
});
afterAll(async () => {
  await Promise.all([rolled.close(), single.close(), sql.end()]);
  await database.close();
});

const spec = (measures: MeasureName[], dimensions: Spec["dimensions"]): Spec => ({
  source: "requests",
  dimensions,
  measures,
  filters: {},
  range: { from: "2026-11-12", to: null },
  compare: "previous_period",
  view: "table",
});

const FIRST: MeasureName[] = [
  "cost_usd",
  "users",
  "active_hours",
  "cost_per_user",
  "cost_per_active_hour",
  "tokens_per_request",
  "cost_decomposition",
  "cost_share",
];

for (const first of FIRST) {
  for (const dimensions of [
    ["session"],
    ["day", "session"],
    ["model", "session"],
  ] satisfies Spec["dimensions"][]) {
    test(`of more ${dimensions.join(" × ")} groups than are shown, the first by ${first} are the same as of single records`, async () => {
      const asked = spec([...new Set([first, "requests", "sessions"] as const)], dimensions);
      const result = await rolled.run(asked, NOW);
      expect(result.rows).toHaveLength(ROWS_MAX);
      const { coverage: _, ...expected } = await single.run(asked, NOW);
      expect(result).toMatchObject(expected as never);
    });
  }
}

test("of more groups than are shown, those with the highest percentile are, and of equals the first by name", async () => {
  const asked = spec(["latency_p95_ms", "requests"], ["session"]);
  const { rows, total } = await rolled.run(asked, NOW);
  const shown = rows.map(({ groups, current }) => [groups[0], current?.latency_p95_ms] as const);
  expect(shown).toHaveLength(ROWS_MAX);
  // All calls of a session take as long, and no two buckets have the same middle.
  const all = await sql<{ session: string; bucket: number }[]>`
    select distinct session, floor(4 * (log(2, latency_ms) - 3))::int as bucket from requests
    where started_at >= '2026-11-12' and started_at < ${NOW.toISOString()}::text::timestamptz`;
  const expected = all
    .sort((a, b) => b.bucket - a.bucket || (a.session < b.session ? -1 : 1))
    .slice(0, ROWS_MAX);
  const buckets = new Map(all.map(({ session, bucket }) => [session, bucket]));
  expect(shown.map(([session]) => buckets.get(session ?? ""))).toEqual(expected.map(({ bucket }) => bucket));
  expect(total.current?.requests).toBe(
    Number(
      (
        await sql`select count(*) from requests where started_at >= '2026-11-12' and started_at < ${NOW.toISOString()}::text::timestamptz`
      )[0]?.["count"],
    ),
  );
});

test("a session that goes on after it was rolled up has one percentile, and is chosen as if it had ended", async () => {
  const asked = spec(["latency_p95_ms"], ["session"]);
  const shown = async () => (await rolled.run(asked, NOW)).rows.map(({ groups }) => groups[0]);
  const isShown = new Set(await shown());
  const all = await sql<{ session: string }[]>`
    select session from requests where started_at >= '2026-11-12' and started_at < '2026-11-21'
    group by session order by max(latency_ms) desc`;
  const next = all.map(({ session }) => session).filter((session) => !isShown.has(session));
  await sql`
    insert into requests (org_id, id, started_at, surface, channel, state, streamed, attempts, route, route_source, model,
      key_id, owner, session, client, tags, latency_ms, usage_source, unpriced, partial)
    select org_id, uuidv7(), timestamptz '2026-11-21T12:20:00Z', surface, channel, state, streamed, attempts, route,
      route_source, model, key_id, owner, session, client, tags, latency_ms - 3 + 3 * n, usage_source, unpriced, partial
    from requests cross join generate_series(0, 1) n where session = any(${next.slice(0, 40)})`;
  const going = await shown();
  const rollups = openRollups({ url: database.url });
  await rollups.catchUp(new Date("2026-11-21T12:35:10Z"));
  await rollups.close();
  expect(going).toEqual(await shown());
});

test("in order of percentiles, a group of the period before alone is shown after those of this one", async () => {
  const shown = async (runner: ReportRunner) => {
    const range = { from: "2026-11-19T08:00:00Z", to: "2026-11-19T10:00:00Z" };
    const asked = { ...spec(["latency_p95_ms"], ["client", "subject"]), range };
    return (await runner.run(asked, NOW)).rows.map(({ groups, current }) => [groups[1], current !== null]);
  };
  const rows = await shown(rolled);
  expect(rows.map(([person]) => person).sort()).toEqual(
    (await shown(single)).map(([person]) => person).sort(),
  );
  const isNow = rows.map(([, now]) => now);
  expect([isNow[0], isNow.at(-1)]).toEqual([true, false]);
  expect([...isNow].sort().reverse()).toEqual(isNow);
});

test("persons by time and channel, whose sessions are counted, are all shown, though one of these may be read of sums", async () => {
  for (const dimensions of [
    ["day", "subject"],
    ["subject", "week"],
  ] satisfies Spec["dimensions"][]) {
    const asked = { ...spec(["requests", "sessions"], dimensions), filters: { channel: ["api"] } };
    const { coverage: _, ...expected } = await single.run(asked, NOW);
    expect(expected.rows.length).toBeGreaterThan(37);
    expect(await rolled.run(asked, NOW)).toMatchObject(expected as never);
  }
});

test("of a window that is read of single records alone, a filter by key chooses as ever", async () => {
  const range = { from: "2026-11-21T12:30:00Z", to: null };
  for (const key of ["00000000-0000-7000-8000-000000000001", "no such"]) {
    const asked: Spec = { ...spec(["requests", "users"], ["client"]), range, filters: { key: [key] } };
    const { coverage: _, ...expected } = await single.run(asked, NOW);
    expect(await rolled.run(asked, NOW)).toMatchObject(expected as never);
  }
});
