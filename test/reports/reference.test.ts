import { afterAll, beforeAll, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { reportRunner } from "#gateway/reporting.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { ENGINES, reportEngine } from "#test/support/report-engines.ts";
import { edges, spec, worldOf } from "./arbitraries.ts";
import { expectReport } from "./expect-report.ts";
import { naiveReport } from "./naive.ts";
import { seed } from "./world.ts";

const NOW = new Date("2026-03-31T10:00:00.000Z");

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

test.each(ENGINES)(
  "any report of %s over any records equals the one made by loops over them",
  async (engine) => {
    let worlds = 0;
    const { clickhouseUrl, wrote } = await reportEngine(engine, sql);
    await fc.assert(
      fc.asyncProperty(
        worldOf(edges, 30),
        fc.array(spec, { minLength: 3, maxLength: 3 }),
        async (facts, specs) => {
          const orgId = `${engine} ${worlds++}`;
          await seed(sql, orgId, facts);
          await wrote(orgId);
          const runner = reportRunner({ url: database.url, clickhouseUrl, orgId });
          try {
            for (const asked of specs) {
              const result = await runner.run(checkSpec(asked), NOW);
              expectReport(result, naiveReport(facts, asked, NOW));
            }
          } finally {
            await runner.close();
          }
        },
      ),
      { numRuns: 50 },
    );
  },
);
