import { expect, test } from "bun:test";
import { halvesOf } from "#gateway/reports/rollup/halves.ts";
import { type MeasureName, ROWS_MAX, type Spec } from "#shared/report.ts";
import { ledger } from "./ledger.ts";

const NOW = new Date("2026-11-21T12:34:56Z");

/** Sessions of one to three calls; some go on for weeks or this minute, one is named as those are shown that have none. */
const CALLS = `
insert into requests (org_id, id, started_at, surface, channel, state, streamed, attempts, route, route_source, model,
  key_id, owner, session, client, tags, latency_ms, usage_source, input_tokens, output_tokens, cost_usd, token_cost_usd,
  unpriced, partial)
select 'default', uuidv7(), case when n % 29 = 0 and call = 2 then timestamptz '2026-11-21T12:31:00Z'
  else timestamptz '2026-11-01T00:10:00Z' + make_interval(hours => n * 7 % 460, days => case when n % 13 = 0 then 2 * call else 0 end) end,
  'chat', case when n % 11 = 0 then 'subscription' else 'api' end, 'ok', true, 1, 'r' || n % 3, 'model', 'm' || (n + call) % 4,
  '00000000-0000-7000-8000-000000000001', 'p' || (n + call) % 37,
  case when n % 17 = 0 then null when n = 105 then '(none)' else 's' || lpad(n::text, 5, '0') end, 'cli' || n % 2, '{}',
  10 + n * 37 % 9000, 'provider', n % 100, n % 50, (n * 7919 % 4001) / 1000.0, (n * 7919 % 4001) / 1000.0, false, false
from generate_series(1, 2600) n cross join lateral generate_series(1, 1 + n % 3) call`;

const FIRST: MeasureName[] = [
  "cost_usd",
  "users",
  "sessions",
  "active_hours",
  "cost_per_user",
  "cost_per_1k_sessions",
  "latency_avg_ms",
  "cost_decomposition",
];
const DIMENSIONS: Spec["dimensions"][] = [
  ["session"],
  ["session", "model"],
  ["subject", "session"],
  ["week", "session"],
];
const ALL: Spec["range"] = { from: null, to: null };
const CUT: Spec["range"] = { from: "2026-11-09T07:20:00Z", to: "2026-11-19T16:40:00Z" };

test("of more groups of sessions than are shown, wherever these lie, the first are the same as of single records", async () => {
  const it = await ledger();
  await it.sql.unsafe(CALLS);
  await it.rollups.catchUp(NOW);
  for (const dimensions of DIMENSIONS) {
    for (const [i, first] of FIRST.entries()) {
      const [range, compare] = i % 2 ? [CUT, "previous_period" as const] : [ALL, "none" as const];
      const measures = [...new Set([first, "requests", "sessions"] as const)];
      const filters = i % 3 ? {} : { channel: ["api", "batch"] };
      const spec: Spec = {
        source: "requests",
        dimensions,
        measures,
        filters,
        range,
        compare,
        view: "table",
      };
      const result = await it.rolled.run(spec, NOW);
      expect(result.rows).toHaveLength(ROWS_MAX);
      const { coverage: _, ...expected } = await it.single.run(spec, NOW);
      expect(result).toMatchObject(expected as never);
    }
  }
  await it.close();
});

test("groups are made at once where too many sessions lie on both sides, or no day is summed up", () => {
  const told = (n: number) => [
    { mid: "2026-11-09", session: null },
    ...Array.from({ length: n }, (_, i) => ({ mid: null, session: `s${i}` })),
  ];
  expect(halvesOf(told(2))).toEqual({ midMs: Date.UTC(2026, 10, 10), apart: ["s0", "s1"] });
  expect(halvesOf(told(10_001))).toBeNull();
  expect(halvesOf([{ mid: null, session: null }])).toBeNull();
});
