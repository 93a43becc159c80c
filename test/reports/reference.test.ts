import { beforeAll, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { checkSpec } from "#gateway/reports/spec.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { type Engines, reportEngines } from "#test/support/report-engines.ts";
import { casesTried } from "#test/support/tiers.ts";
import { edges, spec, worldOf } from "./arbitraries.ts";
import { expectReport } from "./expect-report.ts";
import { naiveReport } from "./naive.ts";
import { seed } from "./world.ts";

const NOW = new Date("2026-03-31T10:00:00.000Z");

let sql: postgres.Sql;
let engines: Engines;

beforeAll(async () => {
  const { url } = await testDatabase();
  sql = testSql(url);
  engines = await reportEngines(url);
});

/** Worlds of three reports each, and every how many of them ClickHouse answers, too. */
const WORLDS = casesTried(12, 30);
const BY_BOTH = 6;

const reference = async () => {
  let worlds = 0;
  await fc.assert(
    fc.asyncProperty(
      worldOf(edges, 30),
      fc.array(spec, { minLength: 3, maxLength: 3 }),
      async (facts, specs) => {
        const byBoth = worlds % BY_BOTH === 0;
        const orgId = `org${worlds++}`;
        await seed(sql, orgId, facts);
        await engines.wrote(orgId);
        const runner = byBoth ? engines.runner(orgId) : engines.quickRunner(orgId);
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
    { numRuns: WORLDS },
  );
};

test(
  "any report over any records equals the one made by loops over them, whichever database answers it",
  reference,
  Math.max(WORLDS, 15) * 20_000,
);
