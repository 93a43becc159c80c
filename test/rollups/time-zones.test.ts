import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { reportRunner } from "#gateway/reporting.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { Spec } from "#shared/report.ts";
import { dayIn } from "#shared/time-zone.ts";

import { type RequestFacts, seed } from "#test/reports/world.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";

const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2026, 9, 20, 0, 20);
const NOW = new Date("2026-11-10T09:30:00Z");

/** A call every 5 hours and 7 minutes over the end of summer time, of three persons and five sessions; and one in an hour that a midnight cuts. */
const TIMES = Array.from({ length: 96 }, (_, i) => FROM_MS + i * 5 * HOUR_MS + i * 7 * 60_000);
TIMES.push(Date.UTC(2026, 9, 26, 18, 15), Date.UTC(2026, 9, 26, 18, 45));
const REQUESTS: RequestFacts[] = TIMES.map((ms, i) => ({
  at: new Date(ms).toISOString(),
  owner: `p${i % 3}@example.com`,
  session: `s${i < 96 ? i % 5 : 1}`,
  model: i % 2 ? "opus" : "haiku",
  cost: `0.${i + 100}`,
}));

const SPEC: Spec = {
  source: "requests",
  dimensions: ["day"],
  measures: ["cost_usd", "requests", "users", "sessions", "active_hours"],
  filters: {},
  range: { from: "2026-10-24", to: "2026-11-05" },
  compare: "previous_period",
  view: "table",
};

let database: TestDatabase;
let runners: Record<"rolled" | "single", ReturnType<typeof reportRunner>>;

beforeAll(async () => {
  database = await testDatabase();
  await seed(testSql(database.url), "default", { requests: REQUESTS });
  const rollups = openRollups({ url: database.url, orgId: "default" });
  await rollups.catchUp(NOW);
  await rollups.close();
  runners = {
    rolled: reportRunner({ url: database.url, rollupsFrom: 0 }),
    single: reportRunner({ url: database.url, rollupsFrom: Number.POSITIVE_INFINITY }),
  };
});
afterAll(async () => {
  await Promise.all([runners.rolled.close(), runners.single.close()]);
  await database.close();
});

const counted = (zone: string, days: readonly string[]) =>
  days.map((day) => REQUESTS.filter(({ at }) => dayIn(Date.parse(at), zone) === day).length);

describe.each(["Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Kiritimati"])(
  "in %s",
  (timeZone) => {
    test("each call is in the day that clocks there showed", async () => {
      const { rows } = await runners.rolled.run(SPEC, NOW, { timeZone });
      const current = rows.filter((row) => row.current !== null);
      const days = current.map(({ groups: [day = ""] }) => day);
      expect([days[0], days.at(-1)]).toEqual(["2026-10-24", "2026-11-05"]);
      expect(current.map((row) => row.current?.requests ?? null)).toEqual(counted(timeZone, days));
    });

    test("the total is that of all days together", async () => {
      const [days, all] = await Promise.all(
        [SPEC, { ...SPEC, dimensions: [] }].map((spec) => runners.rolled.run(spec, NOW, { timeZone })),
      );
      expect(days?.total).toEqual(all?.total as NonNullable<typeof all>["total"]);
    });

    test.each<[string, Partial<Spec>]>([
      ["days", {}],
      ["weeks", { dimensions: ["week"] }],
      ["months and models", { dimensions: ["month", "model"] }],
      ["a day of a person", { dimensions: ["subject"], filters: { day: ["2026-10-25"] } }],
      ["months of a session", { dimensions: ["session", "month"], filters: { month: ["2026-11"] } }],
      ["no days", { dimensions: ["model"] }],
      ["merges", { source: "outcomes", dimensions: ["day"], measures: ["merged_prs", "reviews"] }],
    ])("sums and single records agree on %s", async (_, over) => {
      const spec = { ...SPEC, ...over };
      const [rolled, single] = await Promise.all(
        [runners.rolled, runners.single].map((runner) => runner.run(spec, NOW, { timeZone })),
      );
      if (!single) throw new Error("no result");
      expect(rolled).toEqual(single);
    });
  },
);

test("a zone off the whole hour is refused once single records are dropped, and other zones are not", async () => {
  const sql = testSql(database.url);
  await sql`update rollup_state set raw_from = '2026-11-01T00:00:00Z', hours_to = '2026-11-01T00:00:00Z'`;
  const run = (timeZone: string, over: Partial<Spec> = {}) =>
    runners.rolled.run({ ...SPEC, ...over }, NOW, { timeZone }).then(
      ({ rows }) => rows.length > 0,
      (error: Error) => error.message,
    );
  expect(await run("Asia/Kolkata")).toStartWith("time_zone: differs from UTC by part of an hour");
  expect(await run("Europe/Berlin")).toBe(true);
  const late = { range: { from: "2026-11-03", to: "2026-11-05" }, compare: "none" } as const;
  expect(await run("Asia/Kolkata", late)).toBe(true);
});
