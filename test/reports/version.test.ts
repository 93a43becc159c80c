import { beforeEach, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { openDatabase } from "#drizzle/database.ts";
import { teams } from "#drizzle/schema/teams.ts";
import { applyPrices, type NewPrice } from "#gateway/repricing/priced-again.ts";
import { change } from "#gateway/stores/change.ts";
import { recordVersion } from "#gateway/stores/reports/record-version.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { seed, type World } from "./world.ts";

const AT = "2026-11-21T10:00:00Z";
let url: string;
let sql: postgres.Sql;
const write = (world: World) => seed(sql, "default", world);
const call = (team: string | null) => write({ requests: [{ at: AT, teams: team === null ? null : [team] }] });

/** What moved with some work: the version of all records, and those of two teams. */
async function moved(work: () => Promise<unknown>): Promise<string[]> {
  const version = recordVersion(sql);
  const all = () => Promise.all([null, "alpha", "beta"].map(version));
  const before = await all();
  await work();
  const after = await all();
  return ["all", "alpha", "beta"].filter((_, place) => before[place] !== after[place]);
}

beforeEach(async () => {
  ({ url } = await testDatabase());
  sql = testSql(url);
});

describe("the version of the records", () => {
  test("stays while nothing changes, and is 0 at first", async () => {
    expect(await recordVersion(sql)(null)).toBe(0);
    expect(await moved(async () => undefined)).toEqual([]);
  });

  test("moves with a record: for everyone, and for the teams of the record", async () => {
    expect(await moved(() => call("alpha"))).toEqual(["all", "alpha"]);
    expect(await moved(() => call(null))).toEqual(["all"]);
    expect(await moved(() => write({ requests: [{ at: AT, teams: ["beta", "alpha"] }] }))).toEqual([
      "all",
      "alpha",
      "beta",
    ]);
  });

  test("moves when a record gets its price, and not when a batch of records comes again", async () => {
    await write({ requests: [{ at: AT, teams: ["beta"], unpriced: true, cost: null }] });
    const [record] = await sql<{ id: string }[]>`select id from requests`;
    const price: NewPrice = {
      id: record?.id ?? "",
      startedAt: AT,
      costUsd: "0.5",
      tokenCostUsd: "0.5",
      costBasis: null,
      listCostUsd: null,
      discountedCostUsd: null,
      price: null,
      unpriced: false,
      partial: false,
      oldCostUsd: null,
    };
    const database = openDatabase(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    expect(
      await moved(() => applyPrices(database.db, [price], { actor: "test", reason: "repriced" })),
    ).toEqual(["all", "beta"]);
    const again = sql`insert into requests select * from requests on conflict do nothing`;
    expect(await moved(async () => await again)).toEqual([]);
    await database.close();
  });

  test("moves for every team with a merge that is joined, a review, a linked session and a context", async () => {
    const everyone = ["all", "alpha", "beta"];
    await write({ repositories: [{ id: 1, fullName: "acme/shop" }] });
    const merge = { repository: 1, number: 1, mergedAt: AT, link: "unknown_session", session: "s" };
    expect(await moved(() => write({ pullRequests: [merge] }))).toEqual(everyone);
    expect(await moved(async () => await sql`update pull_requests set link = 'joined'`)).toEqual(everyone);
    expect(
      await moved(() => write({ reviews: [{ repository: 1, id: 1, submittedAt: AT, session: "s" }] })),
    ).toEqual(everyone);
    const link =
      () => sql`insert into session_links (org_id, session, of_session, declarer, counts, key_id, client, declared_at)
      values ('default', 't', 's', 'ann', true, gen_random_uuid(), 'cli', now())`;
    expect(await moved(async () => await link())).toEqual(everyone);
    expect(await moved(async () => await sql`delete from session_links`)).toEqual(everyone);
    const contexts = [{ session: "s", owner: "ann", at: AT, branch: "b" }];
    expect(await moved(() => write({ contexts }))).toEqual(everyone);
  });

  test("moves with what administrators set, such as prices and teams", async () => {
    const database = openDatabase(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    const origin = { actor: "test", address: null, requestId: null, at: new Date(AT) };
    const team = { name: "alpha", createdAt: AT, updatedAt: AT };
    const addTeam = () =>
      change(database, origin, async (tx, audit) => {
        await tx.insert(teams).values(team);
        await audit({ action: "team.set", subject: "alpha" });
      });
    expect(await moved(addTeam)).toEqual(["all", "alpha", "beta"]);
    await database.close();
  });

  test("moves once a record has reached ClickHouse, where reports are read then", async () => {
    await sql`insert into clickhouse_state (org_id, version) values ('default', 1)`;
    expect(await moved(async () => await sql`update clickhouse_state set version = 2`)).toEqual([
      "all",
      "alpha",
      "beta",
    ]);
  });

  test("moves when the change can be seen, not before", async () => {
    const writer = testSql(url);
    const committed = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const work = writer.begin(async (tx) => {
      await seed(tx as unknown as postgres.Sql, "default", { requests: [{ at: AT, teams: ["alpha"] }] });
      written.resolve();
      await committed.promise;
    });
    expect(await moved(() => written.promise)).toEqual([]);
    expect(
      await moved(async () => {
        committed.resolve();
        await work;
      }),
    ).toEqual(["all", "alpha"]);
  });

  test("counts every one of writers that write at once, none of which waits for another", async () => {
    const WRITERS = 8;
    const all = Promise.withResolvers<void>();
    let written = 0;
    const writers = Array.from({ length: WRITERS }, async () => {
      await testSql(url).begin(async (tx) => {
        await seed(tx as unknown as postgres.Sql, "default", { requests: [{ at: AT, teams: ["alpha"] }] });
        written++;
        if (written === WRITERS) all.resolve();
        // Each holds its count until all have one.
        await all.promise;
      });
    });
    await Promise.all(writers);
    expect(await recordVersion(sql)("alpha")).toBe(WRITERS);
    const parts = () => sql`select from record_changes where team = 'alpha'`;
    const before = (await parts()).length;
    for (let time = 0; time < 20; time++) await call("alpha");
    expect(await recordVersion(sql)("alpha")).toBe(WRITERS + 20);
    expect((await parts()).length).toBe(before);
  });
});
