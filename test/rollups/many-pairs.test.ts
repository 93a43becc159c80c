import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { MeasureName, Row, Spec } from "#shared/report.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";

// Pairs of labels, far more than are shown, of which those that are shown are asked for first (gateway/reports/rollup/plan.ts).

const NOW = new Date("2026-11-21T12:34:56Z");

const ID = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;

/** Names of keys: most have none and are told by their id, and two are named by the id of another. */
const KEYS: Record<number, string> = { 1: "named", 3: ID(4), 5: "{'\\\"", 6: ID(90) };
const NAMED = `insert into keys (id, name, scopes, created_at) values
  ${Object.entries(KEYS)
    .map(([n, name]) => `('${ID(Number(n))}', '${name.replaceAll("'", "''")}', '{}', '2020-01-01')`)
    .join(", ")}`;

/** Calls over two months by 97 keys and 23 models, of which most pairs met. An array's text has to quote many of the labels. */
const CALLS = `
insert into requests (org_id, id, started_at, surface, channel, state, streamed, attempts, route, route_source, model,
  key_id, owner, session, client, tags, latency_ms, usage_source, input_tokens, output_tokens, cost_usd, token_cost_usd,
  unpriced, partial)
select 'default', uuidv7(), timestamptz '2026-10-20T00:10:00Z' + make_interval(hours => n * 7 % 760), 'chat',
  case when n % 11 = 0 then 'subscription' else 'api' end, 'ok', true, 1, 'r' || n % 3, 'model',
  coalesce((array['NULL', '', '"', '\\', '{a,b}', ',', '''', 'é', '$1', '(none)', ' '])[1 + n % 23], 'm' || n % 23),
  ('00000000-0000-7000-8000-' || lpad((n % 97)::text, 12, '0'))::uuid, (array['p"', 'p\\', 'p,', 'p}'])[1 + n % 4] || n % 1100,
  's' || lpad((n % 700)::text, 5, '0'), 'cli', array['t' || n % 5, (array['"', '\\"', '{}'])[1 + n % 3]],
  10 + n % 2231 * 37 % 9000, 'provider', n % 100, n % 50, case when n % 13 > 0 then n % 7 end, case when n % 13 > 0 then n % 7 end, n % 13 = 0, false
from generate_series(1, 4400) n`;

let database: TestDatabase;
let rolled: ReportRunner;
let single: ReportRunner;

beforeAll(async () => {
  database = await testDatabase();
  const sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await sql.unsafe(NAMED);
  await sql.unsafe(CALLS);
  await sql.end();
  const rollups = openRollups({ url: database.url });
  await rollups.catchUp(NOW);
  await rollups.close();
  rolled = reportRunner({ url: database.url, rollupsFrom: 0 });
  single = reportRunner({ url: database.url, rollupsFrom: Number.POSITIVE_INFINITY });
});
afterAll(async () => {
  await Promise.all([rolled.close(), single.close()]);
  await database.close();
});

const spec = (
  measures: MeasureName[],
  dimensions: Spec["dimensions"],
  filters: Spec["filters"] = {},
): Spec => ({
  source: "requests",
  dimensions,
  measures,
  filters,
  range: { from: "2026-11-05", to: null },
  compare: "previous_period",
  view: "table",
});

const P95 = "latency_p95_ms";

/** A row without its percentiles, which rollups know by buckets. */
const exact = ({ groups, current, previous, floor, previousFloor }: Row) => ({
  groups,
  current: current && { ...current, [P95]: null },
  previous: previous && { ...previous, [P95]: null },
  floor,
  previousFloor,
});

/** Percentiles of the same calls: a bucket of rollups ends within 2^¼ of where it begins, or within 10 ms. */
const isNear = (found: number | null | undefined, exactly: number | null | undefined): boolean =>
  found == null || exactly == null
    ? found === exactly
    : Math.abs(found - exactly) <= Math.max(10, 0.19 * exactly);

const PAIRS: Spec["dimensions"][] = [
  ["key", "model"],
  ["route", "key"],
  ["tag", "session"],
  ["subject", "model"],
  ["day", "subject"],
];
const FIRST: MeasureName[] = ["cost_usd", "cost_per_user", "cost_decomposition", "request_share", "sessions"];
const FILTERS: Spec["filters"][] = [
  {},
  { month: ["2026-11"] },
  { channel: ["subscription"], week: ["2026-10-26", "2026-11-09"] },
  { month: ["2026-10", "2026-11"], model: ["NULL", "\\", "m12"] },
];

for (const [i, dimensions] of PAIRS.entries()) {
  for (const [j, filters] of FILTERS.entries()) {
    const first = FIRST[(i + j) % FIRST.length] ?? "requests";
    test(`the first ${dimensions.join(" × ")} by ${first}, filtered by ${Object.keys(filters).join(" and ") || "nothing"}, are those of single records`, async () => {
      const asked = spec([first, "requests", "users", "active_hours", P95], dimensions, filters);
      const expected = await single.run(asked, NOW);
      const found = await rolled.run(asked, NOW);
      expect(found.rows.map(exact)).toEqual(expected.rows.map(exact));
      expect(exact(found.total)).toEqual(exact(expected.total));
      for (const [place, { current }] of expected.rows.entries()) {
        expect(isNear(found.rows[place]?.current?.[P95], current?.[P95])).toBe(true);
      }
    });
  }
}

test("where filters by time leave nothing to choose from, the total is there", async () => {
  const asked = spec(["requests", P95], ["subject", "model"], { month: ["0000-01"] });
  const { coverage: _, ...expected } = await single.run(asked, NOW);
  expect(expected.rows).toEqual([]);
  expect(await rolled.run(asked, NOW)).toMatchObject(expected as never);
});
