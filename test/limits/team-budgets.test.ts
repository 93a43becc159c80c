import { beforeAll, expect, test } from "bun:test";
import type postgres from "postgres";
import { Registry } from "prom-client";
import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { GatewayError } from "#gateway/errors.ts";
import { teamAccount } from "#gateway/limits/account-ids.ts";
import { parsePico } from "#gateway/limits/money.ts";
import { teamLookup } from "#gateway/stores/directory/team-lookup.ts";
import { openLimiter } from "#gateway/stores/limits/limiter.ts";
import { systemClock } from "#shared/clock.ts";
import { newId } from "#shared/ids.ts";
import { keptLog } from "#test/support/embedded.ts";
import { type TestDatabase, testDatabase, testSql } from "#test/support/postgres.ts";

let database: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = testSql(database.url);
});

const team = (name: string, more: object = {}) => ({
  name,
  parent: null,
  costCenter: null,
  budgetUsd: null,
  budgetPeriod: null,
  unpriced: null,
  ...more,
});

test("a team's account is the same in the gateway and in the database", async () => {
  const [row] = await sql`select md5('team ' || ${"web"})::uuid::text as id`;
  expect(teamAccount("web")).toBe(row?.["id"]);
});

test("a key counts in the budgets of its team and of all above it, at the nearest cost centre", () => {
  const teamOf = teamLookup([
    team("all", { costCenter: "CC-1", budgetUsd: "9", budgetPeriod: "day" }),
    team("web", { parent: "all" }),
    team("api", { parent: "web", budgetUsd: "3", budgetPeriod: "month" }),
  ]);
  expect(teamOf("api")).toEqual({
    teams: ["api", "web", "all"],
    costCenter: "CC-1",
    sharedBudgets: [
      {
        id: teamAccount("api"),
        team: "api",
        limits: { budget_usd: "3", budget_period: "month", unpriced: "refuse" },
      },
      {
        id: teamAccount("all"),
        team: "all",
        limits: { budget_usd: "9", budget_period: "day", unpriced: "refuse" },
      },
    ],
  });
  expect(teamOf("gone")).toEqual({ teams: null, costCenter: null, sharedBudgets: [] });
});

/** A call that may cost two USD, by a key of a team with this budget. `known`: the bounded part. */
async function reserved(limits: KeyLimits | null, budgetUsd: string, known = "2") {
  const limiter = openLimiter({
    databaseUrl: database.url,
    clock: systemClock,
    log: keptLog(),
    metrics: new Registry(),
    limitsAwayAfterMs: 5000,
    recorded: async () => undefined,
  });
  await limiter.begun;
  const id = newId();
  const sharedBudgets = [{ id: newId(), team: "web", limits: { budget_usd: budgetUsd } }];
  const key = { name: "k", owner: null, teams: ["web"], costCenter: null, scopes: {}, expiresAtMs: null };
  const call = { id, key: { ...key, id: newId(), limits, sharedBudgets }, admittedAt: new Date() };
  const demand = { tokens: 0, usd: parsePico("2"), minimumUsd: parsePico(known) };
  const answer = await limiter.reserve({ ...call, recorded: true }, () => demand);
  await limiter.close();
  const holds = await sql`select 1 from limit_holds where call_id = ${id}`;
  return { answer, holds: holds.length };
}

test.each([
  ["its key", "1", "5"],
  ["its team", "5", "1"],
])("a call that %s refuses leaves nothing reserved", async (_, ofKey, ofTeam) => {
  const { answer, holds } = await reserved({ budget_usd: ofKey }, ofTeam);
  expect(answer).toBeInstanceOf(GatewayError);
  expect(holds).toBe(0);
  const admitted = await reserved({ budget_usd: "5" }, "5");
  expect([admitted.answer instanceof GatewayError, admitted.holds]).toEqual([false, 2]);
});

test("the most that a call may cost, and what it counts as while that is unknown, are the largest of any budget", async () => {
  const boundOf = async (limits: KeyLimits | null, ofTeam: string) => {
    const { answer } = await reserved(limits, ofTeam, "0.25");
    if (answer instanceof GatewayError) throw answer;
    return [answer.boundUsd, answer.unknownUsd].map((usd) => Number(usd));
  };
  // An answer whose length nothing limits reserves what is left.
  expect(await boundOf({ budget_usd: "0.9" }, "10")).toEqual([2, 0.25]);
  expect(await boundOf({ budget_usd: "1.5" }, "1")).toEqual([1.5, 0.25]);
  expect(await boundOf({ requests_per_minute: 5 }, "1")).toEqual([1, 0.25]);
  expect(await boundOf(null, "1.25")).toEqual([1.25, 0.25]);
});
