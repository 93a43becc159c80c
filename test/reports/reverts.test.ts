import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { type Revert, revertedBy, revertsQuery } from "#gateway/reports/reverts.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type PullRequestFacts, seed } from "./world.ts";

test("in a chain of reverts every other one stands, however long it is", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), (length) => {
      // PR n reverts PR n - 1; the latest comes first and stands.
      const chain = Array.from({ length }, (_, i) => ({
        reverter: `1#${length - i}`,
        original: `1#${length - i - 1}`,
      }));
      const expected = Array.from({ length: Math.ceil(length / 2) }, (_, i) => `1#${length - 1 - 2 * i}`);
      expect(revertedBy(chain)).toEqual(expected);
    }),
  );
});

test("one standing revert is enough, beside others that were taken back", () => {
  expect(
    revertedBy([
      { reverter: "1#4", original: "1#3" },
      { reverter: "1#3", original: "1#1" },
      { reverter: "1#2", original: "1#1" },
    ]),
  ).toEqual(["1#3", "1#1"]);
});

test("whatever reverts whatever, one is reverted exactly if a revert of it stands", () => {
  const later = fc.integer({ min: 1, max: 30 });
  fc.assert(
    fc.property(fc.array(fc.tuple(later, later), { maxLength: 60 }), (pairs) => {
      // The higher number was merged later; the latest merge comes first.
      const edges = pairs
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => ({ reverter: Math.max(a, b), original: Math.min(a, b) }))
        .sort((a, b) => b.reverter - a.reverter);
      const isReverted = (number: number): boolean =>
        edges.some((it) => it.original === number && !isReverted(it.reverter));
      const known = new Map<number, boolean>();
      for (let number = 30; number >= 1; number--) {
        const stands = edges.some((it) => it.original === number && known.get(it.reverter) === false);
        known.set(number, stands);
      }
      const expected = [...known].flatMap(([number, reverted]) => (reverted ? [`1#${number}`] : []));
      const found = revertedBy(
        edges.map(({ reverter, original }) => ({ reverter: `1#${reverter}`, original: `1#${original}` })),
      );
      expect(found.sort()).toEqual(expected.sort());
      if (edges.length < 10)
        for (const [number, reverted] of known) expect(isReverted(number)).toBe(reverted);
    }),
  );
});

describe("evidence of a revert", () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  let organisations = 0;

  beforeAll(async () => {
    database = await testDatabase();
    sql = connect(database.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  });
  afterAll(async () => {
    await sql.end();
    await database.close();
  });

  /** What PR 9 of repository 1, the last one merged, is found to revert. */
  async function found(nine: Partial<PullRequestFacts>): Promise<string[]> {
    const orgId = `org${organisations++}`;
    const merged = (number: number, over: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
      repository: 1,
      number,
      mergedAt: `2026-11-0${number}T00:00:00Z`,
      link: "no_stamp",
      sha: `5ba${number}`,
      ...over,
    });
    await seed(sql, orgId, {
      repositories: [{ id: 1, fullName: "Acme/App", formerNames: ["Acme/Früher"] }],
      pullRequests: [
        merged(1),
        merged(2),
        merged(3, { mergedAt: null }),
        merged(1, { repository: 2 }),
        merged(9, nine),
      ],
    });
    const { text, params } = revertsQuery(orgId);
    const rows = await sql.unsafe<Revert[]>(text, [...params] as string[]);
    expect(rows.every(({ reverter }) => reverter === "1#9")).toBe(true);
    return rows.map(({ original }) => original).sort();
  }

  const body = (repository: string | null, number: number) => ({ revertsByBody: [{ repository, number }] });

  test.each<[string, Partial<PullRequestFacts>, string[]]>([
    ["the body names a number", body(null, 1), ["1#1"]],
    ["the body names the repository", body("acme/app", 2), ["1#2"]],
    ["the body names the repository's former name", body("acme/früher", 2), ["1#2"]],
    ["the body names another repository", body("other/app", 1), []],
    [
      "the body names several",
      { revertsByBody: [1, 2].map((number) => ({ repository: null, number })) },
      ["1#1", "1#2"],
    ],
    ["the body names what was never merged", body(null, 3), []],
    ["the body names itself", body(null, 9), []],
    ["the body names a number that no pull request can have", body(null, 1e30), []],
    ["the branch names a number", { revertsByBranch: 2 }, ["1#2"]],
    ["a commit names a known merge", { revertsBySha: ["5ba1", "unknown"] }, ["1#1"]],
    [
      "the body wins over the branch and the commit",
      { ...body(null, 1), revertsByBranch: 2, revertsBySha: ["5ba2"] },
      ["1#1"],
    ],
    ["the branch wins where the body names nothing known", { ...body(null, 7), revertsByBranch: 2 }, ["1#2"]],
    ["the original was merged later", { ...body(null, 2), mergedAt: "2026-11-01T12:00:00Z" }, []],
    ["it was not merged itself", { ...body(null, 1), mergedAt: null }, []],
  ])("%s", async (_, nine, expected) => {
    expect(await found(nine)).toEqual(expected);
  });
});
