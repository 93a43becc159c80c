import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { POINT_KINDS } from "#drizzle/schema/agent.ts";
import { TOOL_STATUSES } from "#drizzle/schema/tools.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { sourceOf } from "#gateway/reports/sources.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import type { Spec } from "#shared/report.ts";
import { edges, specOf } from "#test/reports/arbitraries.ts";
import { keyId } from "#test/reports/world.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { casesTried } from "#test/support/tiers.ts";

/** Worlds, of four specs each; `ROLLUP_WORLDS=…` for more. */
const WORLDS = Number(process.env["ROLLUP_WORLDS"] ?? casesTried(8, 25));
const NOW = new Date("2026-03-31T10:42:33.123Z");

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

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const usd = maybe(fc.constantFrom("0", "0.000001", "1.5", "1.50", "123456789012345678.123456789"));
/** Sessions and hours that would be mixed up if they were told apart by a text of both. */
const session = maybe(fc.constantFrom("s", "s 4", "s 492", "S", "é", "S "));
const shared = {
  key_id: fc.constantFrom(keyId("a"), keyId("b"), keyId("c")),
  owner: maybe(fc.constantFrom("ann", "bob")),
  user_label: maybe(fc.constantFrom("ann", "eve", "")),
  session,
  client: fc.constantFrom("cli", "ide", "(none)"),
};

const toolCall = fc.record({
  ...shared,
  started_at: edges,
  channel: fc.constantFrom("hook", "mcp"),
  status: fc.constantFrom(...TOOL_STATUSES),
  tags: fc.subarray(["x", "y", "z"]),
  server: maybe(fc.constantFrom("files", "web")),
  tool: maybe(fc.constantFrom("read", "write")),
  latency_ms: maybe(fc.constantFrom(0, 7, 7, 2_147_483_647)),
  cost_usd: usd,
});

const point = fc.record({
  ...shared,
  ended_at: edges,
  kind: fc.constantFrom(...POINT_KINDS),
  tokens: maybe(fc.constantFrom(0, 5, Number.MAX_SAFE_INTEGER)),
  operations: maybe(fc.constantFrom(0, 3, Number.MAX_SAFE_INTEGER)),
  duration_seconds: maybe(fc.constantFrom("0", "0.0005", "98765.4321")),
  model: maybe(fc.constantFrom("m1", "m2")),
  cost_usd: usd,
  unpriced: fc.boolean(),
});

const VALUES: Partial<Record<string, string[]>> = {
  client: ["cli", "(none)"],
  model: ["m1", "(none)"],
  subject: ["ann", "eve (bob)", "service account"],
  key: ["laptop", keyId("c")],
  channel: ["hook"],
  tag: ["x", "(none)"],
  session: ["s", "(none)"],
  server: ["web", "(none)"],
  tool: ["read"],
  month: ["2026-02"],
};

const spec = fc.constantFrom("tool_calls" as const, "agent_metrics" as const).chain((source) =>
  specOf(source, {
    measures: sourceOf(source).measures,
    values: VALUES,
    range: fc.constantFrom<Spec["range"]>("7d", "30d", "mtd", "last_month", { from: null, to: "2026-03-25" }),
  }),
);

const story = fc.record({
  calls: fc.array(toolCall, { maxLength: 40 }),
  points: fc.array(point, { maxLength: 40 }),
  specs: fc.array(spec, { minLength: 4, maxLength: 4 }),
});

type Records = Readonly<Record<string, unknown>>[];

async function write(orgId: string, calls: Records, points: Records): Promise<void> {
  const put = async (table: string, rows: Record<string, unknown>[]) => {
    if (rows.length > 0)
      await sql`insert into ${sql(table)} ${sql(rows.map((row) => ({ org_id: orgId, ...row })))}`;
  };
  await put("keys", [
    { id: keyId("a"), name: "laptop", scopes: sql.json({}), created_at: NOW },
    { id: keyId("b"), name: "ci", scopes: sql.json({}), created_at: NOW },
  ]);
  await put(
    "tool_calls",
    calls.map((call, i) => ({
      ...call,
      origin: "ann",
      external_id: String(i),
      id: Bun.randomUUIDv7(),
      rank: 1,
      decided_at: NOW,
    })),
  );
  await put(
    "agent_points",
    points.map((one, i) => ({ ...one, hash: Buffer.from(String(i)), metric: "m", received_at: NOW })),
  );
}

test(
  "the total of any report of tool calls or agents' metrics is that of the report without dimensions",
  async () => {
    let worlds = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ calls, points, specs }) => {
        const orgId = `org${worlds++}`;
        const runner = reportRunner({ url: database.url, orgId });
        try {
          await write(orgId, calls, points);
          for (const asked of specs.map((spec) => checkSpec(spec))) {
            const { total } = await runner.run(asked, NOW);
            const all = await runner.run({ ...asked, dimensions: [] }, NOW);
            expect(total).toEqual(all.total);
          }
        } finally {
          await runner.close();
        }
      }),
      { numRuns: WORLDS, endOnFailure: true },
    );
  },
  WORLDS * 20_000,
);
