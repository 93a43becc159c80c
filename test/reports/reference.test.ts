import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { reportRunner } from "#gateway/stores/report-runner.ts";
import type { Figures, MeasureName, Row, Spec } from "#shared/report.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type NaiveRow, naiveReport } from "./naive.ts";
import { seed, type World } from "./world.ts";

const NOW = new Date("2026-03-31T10:00:00.000Z");

let database: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 10_000 });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

/** Instants on and around the edges of the periods, and some in between. */
const at = fc
  .tuple(
    fc.constantFrom(
      "2026-02-01T00:00:00Z",
      "2026-03-01T00:00:00Z",
      "2026-03-18T10:00:00Z",
      "2026-03-25T00:00:00Z",
      "2026-03-31T10:00:00Z",
    ),
    fc.constantFrom(-1, 0, 1, 3_600_000, 86_400_000 * 3, -86_400_000 * 5),
  )
  .map(([base, offset]) => new Date(Date.parse(base) + offset).toISOString());
const session = fc.constantFrom("s1", "s2", "s3", "s4");
const usd = fc.integer({ min: 0, max: 5_000_000 }).map((micros) => (micros / 1e6).toFixed(6));
const tokens = maybe(fc.integer({ min: 0, max: 5_000 }));
const ms = maybe(fc.integer({ min: 0, max: 9_000 }));

const request = fc.record({
  at,
  channel: fc.constantFrom("api" as const, "api" as const, "subscription" as const, "batch" as const),
  client: fc.constantFrom("cli", "ide"),
  model: maybe(fc.constantFrom("m1", "m2")),
  route: fc.constantFrom("chat", "code"),
  key: fc.constantFrom("a", "b", "c"),
  owner: maybe(fc.constantFrom("ann", "bob")),
  user: maybe(fc.constantFrom("ann", "eve")),
  session: maybe(session),
  tags: fc.subarray(["x", "y", "z"]),
  latencyMs: ms,
  ttftMs: ms,
  input: tokens,
  cached: tokens,
  output: tokens,
  cost: fc.oneof({ weight: 4, arbitrary: usd }, { weight: 1, arbitrary: fc.constant(null) }),
  partial: fc.boolean(),
});

const pullRequest = fc.record({
  repository: fc.constantFrom(1, 2),
  number: fc.integer({ min: 1, max: 6 }),
  mergedAt: maybe(at),
  link: fc.constantFrom("joined", "joined", "unknown_session", "no_stamp", "conflict"),
  session: session,
  sha: fc.constantFrom("aa", "bb", "cc", "dd"),
  revertsByBranch: maybe(fc.integer({ min: 1, max: 6 })),
  revertsByBody: fc.array(
    fc.record({ repository: fc.constant(null), number: fc.integer({ min: 1, max: 6 }) }),
    { maxLength: 1 },
  ),
  revertsBySha: fc.subarray(["aa", "bb"], { maxLength: 1 }),
});

const review = fc.record({
  repository: fc.constantFrom(1, 2),
  id: fc.integer({ min: 1, max: 9 }),
  submittedAt: at,
  session: maybe(session),
  dismissed: fc.boolean(),
});

const world: fc.Arbitrary<World> = fc.record({
  keys: fc.constant<Record<string, string>>({ a: "laptop", b: "ci" }),
  requests: fc.array(request, { maxLength: 30 }),
  repositories: fc.constant([{ id: 1, fullName: "acme/app" }]),
  pullRequests: fc.uniqueArray(pullRequest, {
    selector: (pr) => `${pr.repository}#${pr.number}`,
    maxLength: 9,
  }),
  reviews: fc.uniqueArray(review, { selector: (it) => `${it.repository}!${it.id}`, maxLength: 6 }),
});

const VALUES: Partial<Record<string, string[]>> = {
  client: ["cli"],
  model: ["m1", "(none)"],
  route: ["code", "none such"],
  subject: ["ann", "eve (bob)", "(none)"],
  key: ["ci"],
  channel: ["subscription"],
  tag: ["x", "(none)"],
  session: ["s1", "s2"],
  repository: ["acme/app"],
  day: ["2026-03-25"],
  month: ["2026-02", "2026-03"],
};

const spec: fc.Arbitrary<Spec> = fc
  .constantFrom("requests" as const, "requests" as const, "outcomes" as const)
  .chain((source) => {
    const { measures, dimensions } = sourceOf(source);
    const compared: MeasureName[] = measures.filter((name) => name !== "cost_decomposition");
    return fc.record({
      source: fc.constant(source),
      dimensions: fc.array(fc.constantFrom(...dimensions), { maxLength: 2 }),
      measures: fc.shuffledSubarray(compared, { minLength: 1 }),
      filters: fc
        .subarray(
          dimensions.filter((name) => VALUES[name]),
          { maxLength: 2 },
        )
        .chain((names) =>
          fc.record(Object.fromEntries(names.map((name) => [name, fc.subarray(VALUES[name] ?? [])]))),
        ),
      range: fc.constantFrom(
        "7d" as const,
        "30d" as const,
        "mtd" as const,
        "last_month" as const,
        { from: "2026-03-18T10:00:00.000Z", to: null },
        { from: null, to: "2026-03-25" },
      ),
      compare: fc.constantFrom("none" as const, "previous_period" as const),
      view: fc.constant("table" as const),
    });
  });

const near = (a: number | null | undefined, b: number | null | undefined) =>
  a == null || b == null ? a === b : Math.abs(a - b) <= 1e-11 * Math.max(1, Math.abs(a), Math.abs(b));

function expectSame(found: Row | undefined, expected: NaiveRow): void {
  if (!found) throw new Error(`no row ${expected.groups}`);
  const same = (a: Figures | null, b: Figures | null) => {
    if (!a || !b) return a === b;
    return Object.keys(b).every((name) => near(a[name as MeasureName], b[name as MeasureName]));
  };
  const agree = same(found.current, expected.current) && same(found.previous, expected.previous);
  const floors = found.floor === expected.floor && found.previousFloor === expected.previousFloor;
  if (!agree || !floors)
    expect({ ...found, delta: undefined } as unknown).toEqual({ ...expected, delta: undefined });
}

test("any report over any records equals the one made by loops over them", async () => {
  let worlds = 0;
  await fc.assert(
    fc.asyncProperty(world, fc.array(spec, { minLength: 3, maxLength: 3 }), async (facts, specs) => {
      const orgId = `org${worlds++}`;
      await seed(sql, orgId, facts);
      const runner = reportRunner({ url: database.url, orgId });
      try {
        for (const asked of specs) {
          const result = await runner.run(checkSpec(asked), NOW);
          const expected = naiveReport(facts, asked, NOW);
          expect(result.rows.map((row) => JSON.stringify(row.groups)).sort()).toEqual(
            expected.rows.map((row) => JSON.stringify(row.groups)).sort(),
          );
          for (const row of expected.rows) {
            expectSame(
              result.rows.find((it) => JSON.stringify(it.groups) === JSON.stringify(row.groups)),
              row,
            );
          }
          expectSame(result.total, expected.total);
          expectOrdered(result.rows, asked);
        }
      } finally {
        await runner.close();
      }
    }),
    { numRuns: 100 },
  );
}, 30_000);

/** Time ascending, then the first measure descending, what is unknown last, then the label. */
function expectOrdered(rows: Row[], { dimensions, measures }: Spec): void {
  const first = measures[0] ?? "requests";
  const times = dimensions.flatMap((name, i) => (["day", "week", "month"].includes(name) ? [i] : []));
  const text = (row: Row, i: number) => row.groups[i] ?? "";
  const compare = (a: Row, b: Row): number => {
    for (const i of times) if (text(a, i) !== text(b, i)) return text(a, i) < text(b, i) ? -1 : 1;
    const [x, y] = [a.current?.[first] ?? null, b.current?.[first] ?? null];
    if (x !== y && !near(x, y)) return y === null || (x !== null && x > y) ? -1 : 1;
    for (const i of [0, 1]) if (text(a, i) !== text(b, i)) return text(a, i) < text(b, i) ? -1 : 1;
    return 0;
  };
  for (let i = 1; i < rows.length; i++) {
    const [before, after] = [rows[i - 1], rows[i]];
    if (before && after) expect(compare(before, after)).toBeLessThanOrEqual(0);
  }
}
