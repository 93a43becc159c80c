import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { type ReportRunner, reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { openRollups } from "#gateway/stores/reports/rollups.ts";
import type { MeasureName, Spec } from "#shared/report.ts";
import { edges, spec, worldOf } from "#test/reports/arbitraries.ts";
import { expectReport, near } from "#test/reports/expect-report.ts";
import { naiveReport } from "#test/reports/naive.ts";
import { type RequestFacts, seed, type World } from "#test/reports/world.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { ALL, casesTried } from "#test/support/tiers.ts";

/** Worlds, of three specs each: the same ones in every run, others with `--all`; `ROLLUP_WORLDS=…` for more. */
const WORLDS = Number(process.env["ROLLUP_WORLDS"] ?? (process.env[ALL] ? 25 : 0));
const RUNS = WORLDS > 0 ? [{ numRuns: WORLDS }] : [{ numRuns: 3 }, { seed: 2, numRuns: 3 }];
const NOW = new Date("2026-03-31T10:42:33.123Z");
const HOUR_MS = 3_600_000;

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

/** Mostly in the same few hours, and in those that windows cut, so that hours, days, sessions and people meet. */
const at = fc.oneof(
  edges,
  fc
    .tuple(fc.integer({ min: 0, max: 58 }), fc.constantFrom(0, 1, 9, 10, 23), fc.integer({ min: 0, max: 3 }))
    .map(([day, hour, quarter]) => new Date(Date.UTC(2026, 1, 1 + day, hour, quarter * 15)).toISOString()),
  fc
    .tuple(fc.constantFrom(0, 0, 7, 30, 31), fc.integer({ min: 0, max: 100 }))
    .map(([days, minutes]) => new Date(NOW.getTime() - days * 24 * HOUR_MS - minutes * 60_000).toISOString()),
);

const story = fc.record({
  world: worldOf(at, 60),
  /** When the first records are rolled up, and whether late ones are before reports are asked for. */
  firstTurn: fc.constantFrom("2026-02-20T05:00:00Z", "2026-03-28T00:03:00Z", NOW.toISOString()),
  late: worldOf(at, 12),
  repriced: fc.boolean(),
  removed: fc.boolean(),
  /** Of how many days hours are kept. */
  hoursDays: fc.constantFrom(0, 2, 9, 62),
  caughtUp: fc.constantFrom("not", "one turn", "all"),
  rebuilt: fc.boolean(),
  specs: fc.array(spec, { minLength: 3, maxLength: 3 }),
});

type Story = typeof story extends fc.Arbitrary<infer Told> ? Told : never;

/** Tells of changed hours as whoever changes records does. */
async function mark(orgId: string, instants: readonly string[]): Promise<void> {
  const hours = new Set(instants.map((instant) => Math.floor(Date.parse(instant) / HOUR_MS) * HOUR_MS));
  for (const hour of hours) {
    await sql`insert into rollup_marks (org_id, hour, id) values (${orgId}, ${new Date(hour)}, ${Bun.randomUUIDv7()})`;
  }
}

const marking = async (orgId: string, rows: postgres.RowList<postgres.Row[]>) =>
  await mark(
    orgId,
    rows.map((row) => row["started_at"].toISOString()),
  );

/** Bucketed where rollups answer: within 2^¼, and 10 ms where that is less. */
const agrees = (name: MeasureName, a: number | null | undefined, b: number | null | undefined) =>
  name === "latency_p95_ms" && a != null && b != null
    ? Math.abs(a - b) <= Math.max(10, 0.19 * b)
    : near(a, b);

let worlds = 0;

async function holds(it: Story): Promise<void> {
  const orgId = `org${worlds++}`;
  const rollups = openRollups({ url: database.url, orgId, hoursDays: it.hoursDays });
  const rolled = reportRunner({ url: database.url, orgId, rollupsFrom: 0 });
  const single = reportRunner({ url: database.url, orgId, rollupsFrom: Number.POSITIVE_INFINITY });
  try {
    await seed(sql, orgId, it.world);
    await rollups.catchUp(new Date(it.firstTurn));
    const late = it.late.requests ?? [];
    await seed(sql, orgId, { requests: late });
    await mark(
      orgId,
      late.map((record) => record.at),
    );
    let requests: RequestFacts[] = [...(it.world.requests ?? []), ...late];
    if (it.repriced) {
      await marking(
        orgId,
        await sql`update requests set cost_usd = 1.5, token_cost_usd = 1.25, unpriced = false
        where org_id = ${orgId} and cost_usd is null and model = 'm1' returning started_at`,
      );
      requests = requests.map((record) =>
        record.cost === null && record.model === "m1"
          ? { ...record, cost: "1.500000", tokenCost: "1.250000", unpriced: false }
          : record,
      );
    }
    if (it.removed) {
      await marking(
        orgId,
        await sql`delete from requests where org_id = ${orgId} and client = 'ide' and route = 'code' returning started_at`,
      );
      requests = requests.filter(({ client, route }) => client !== "ide" || route !== "code");
    }
    if (it.caughtUp === "one turn") await rollups.turn(NOW, false);
    if (it.caughtUp === "all") await rollups.catchUp(NOW);
    if (it.rebuilt) await rollups.rebuild(NOW);
    const world: World = { ...it.world, requests };
    for (const asked of it.specs) {
      const checked = checkSpec(asked);
      const expected = naiveReport(world, asked, NOW);
      const { coverage, ...others } = await single.run(checked, NOW);
      expectReport({ coverage, ...others }, expected);
      const result = await rolled.run(checked, NOW);
      expectReport(result, expected, agrees);
      if (!Bun.deepEquals(result.coverage, coverage)) {
        throw new Error(`coverage ${JSON.stringify([result.coverage, coverage])}`);
      }
    }
    for (const asked of it.specs.slice(0, casesTried(1, 3))) await agreesWithOthers([rolled, single], asked);
  } finally {
    await Promise.all([rollups.close(), rolled.close(), single.close()]);
  }
}

/** Reports of the same records are asked together, and read these once: each is as it is alone. */
async function agreesWithOthers(runners: readonly ReportRunner[], asked: Spec): Promise<void> {
  const spend =
    asked.source === "requests" ? (["cost_decomposition", "users"] as const) : (["users"] as const);
  const wanted = [asked.dimensions, [], ["day" as const], ["team" as const, "month" as const]].map(
    (dimensions, i) => ({
      spec: checkSpec({
        ...asked,
        dimensions,
        measures: i % 2 === 0 ? asked.measures : [...spend],
        compare: i === 3 ? "none" : "previous_period",
      }),
    }),
  );
  for (const runner of runners) {
    const alone = await Promise.all(wanted.map(({ spec }) => runner.run(spec, NOW)));
    const inOrder = await runner.runAll(wanted, NOW);
    // What one knows beforehand is not left out because another comes first.
    const turned = (await runner.runAll(wanted.toReversed(), NOW)).reverse();
    for (const together of [inOrder, turned])
      expect<unknown>(together.map(({ empty: _, ceiling: __, ...result }) => result)).toEqual(alone);
  }
}

test(
  "any report over rollups equals the one over single records and the one made by loops, whatever came late or changed",
  async () => {
    for (const run of RUNS) await fc.assert(fc.asyncProperty(story, holds), { ...run, endOnFailure: true });
  },
  Math.max(WORLDS, 10) * 20_000,
);
