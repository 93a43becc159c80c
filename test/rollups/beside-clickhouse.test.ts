import { expect, test } from "bun:test";
import { dropOldMonths } from "#drizzle/retention.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { Result, Spec } from "#shared/report.ts";
import { type RequestFacts, seed } from "#test/reports/world.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

const NOW = new Date("2026-03-10T09:30:00Z");
const SPEND: Spec = {
  source: "requests",
  dimensions: [],
  measures: ["cost_usd", "requests", "users", "sessions", "active_hours"],
  filters: {},
  range: { from: null, to: null },
  compare: "none",
  view: "table",
};
const SPECS: Spec[] = [
  SPEND,
  {
    ...SPEND,
    dimensions: ["subject"],
    measures: ["requests", "sessions", "active_hours"],
    range: { from: "2026-01-05", to: "2026-03-04" },
  },
  { ...SPEND, dimensions: ["month", "client"], measures: ["cost_usd", "users"] },
  {
    ...SPEND,
    dimensions: ["team"],
    filters: { team: ["web"] },
    measures: ["requests", "users"],
    range: "30d",
    compare: "previous_period",
  },
];

/** Six calls a day in these days of a month. */
const calls = (month: string, days: readonly number[]): RequestFacts[] =>
  days.flatMap((day) =>
    Array.from({ length: 6 }, (_, i) => ({
      at: `${month}-${String(day).padStart(2, "0")}T${String(3 * i).padStart(2, "0")}:20:00Z`,
      owner: `p${(day + i) % 4}`,
      session: `s${day % 5}-${i % 2}`,
      client: i % 2 ? "cli" : "ide",
      teams: i % 3 ? ["web"] : ["api"],
      cost: `0.${day}${i}`,
    })),
  );

test("beside ClickHouse Postgres makes few sums, answers as before, and makes all of them again without it", async () => {
  const { url } = await testDatabase();
  const sql = testSql(url);
  const catchUp = async (clickhouse: boolean) => {
    const rollups = openRollups({ url, clickhouse });
    await rollups.catchUp(NOW);
    await rollups.close();
  };
  const runner = reportRunner({ url, rollupsFrom: 0 });
  const all = () => Promise.all(SPECS.map((spec) => runner.run(spec, NOW)));
  const single = async () => {
    const one = reportRunner({ url, rollupsFrom: Number.POSITIVE_INFINITY });
    const results = await Promise.all(SPECS.map((spec) => one.run(spec, NOW)));
    await one.close();
    return results;
  };
  const kinds = async (from: string) =>
    (await sql<{ kind: string }[]>`select distinct kind from rollup_sums where at >= ${from} order by 1`).map(
      ({ kind }) => kind,
    );
  const sumsTo = async () =>
    (await sql<{ at: Date | null }[]>`select sums_to as at from rollup_state`)[0]?.at ?? null;

  await seed(sql, "default", { requests: calls("2026-01", [5, 6, 7]) });
  await catchUp(true);
  // Reports read Postgres until ClickHouse has every row.
  expect(await sumsTo()).toBeNull();
  await sql`insert into clickhouse_state (version, database_id, compared_at) values (1, gen_random_uuid(), now())
    on conflict (org_id) do update set compared_at = now()`;
  await seed(sql, "default", { requests: [...calls("2026-02", [1, 2, 20]), ...calls("2026-03", [3, 4, 9])] });
  await sql`update rollup_state set rolled_to = '2026-01-08T00:00:00Z'`;
  await catchUp(true);
  expect(await sumsTo()).toEqual(new Date("2026-01-08T00:00:00Z"));
  expect(await kinds("2026-01-08T00:00:00Z")).toEqual(["model", "route", "total"]);
  expect(await all()).toEqual(await single());

  // A late call of a day that had all sums, and one of a month whose single records go.
  await seed(sql, "default", { requests: calls("2026-01", [6]).slice(0, 1) });
  await sql`insert into rollup_marks (org_id, hour, id) values ('default', '2026-01-06T00:00:00Z', uuidv7())`;
  await catchUp(true);
  expect(await sumsTo()).toEqual(new Date("2026-01-06T00:00:00Z"));
  const known: Result[] = await single();
  expect(await all()).toEqual(known);
  expect(await dropOldMonths(url, new Date("2026-02-01T00:00:00Z"))).not.toEqual([]);
  expect(await all()).toEqual(known);

  await catchUp(false);
  expect(await sumsTo()).toBeNull();
  expect(await kinds("2026-01-08T00:00:00Z")).toContain("subject");
  expect(await all()).toEqual(known);
  // Answers of sums.
  await sql`update rollup_sums set records = 100 * records where kind = 'subject'`;
  const [, bySubject] = await all();
  expect(bySubject?.total.current?.requests).toBeGreaterThan(20 * (known[1]?.total.current?.requests ?? 0));
  await runner.close();
});
