import { expect, test } from "bun:test";
import type { ClientKey } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import { teamAccount, teamLookup } from "#gateway/stores/directory/team-lookup.ts";
import type { Grant, Limiter } from "#gateway/stores/limits/limiter.ts";
import { withTeamBudgets } from "#gateway/stores/limits/team-budgets.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";

const team = (name: string, more: object = {}) => ({
  name,
  parent: null,
  costCenter: null,
  budgetUsd: null,
  budgetPeriod: null,
  ...more,
});

test("a team's account is the same in the gateway and in the database", async () => {
  const database = await testDatabase();
  const sql = testSql(database.url);
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
    teamBudgets: [
      { id: teamAccount("api"), team: "api", limits: { budget_usd: "3", budget_period: "month" } },
      { id: teamAccount("all"), team: "all", limits: { budget_usd: "9", budget_period: "day" } },
    ],
  });
  expect(teamOf("gone")).toEqual({ teams: null, costCenter: null, teamBudgets: [] });
});

const [budget] = teamLookup([team("web", { budgetUsd: "1" })])("web").teamBudgets;
const KEY: ClientKey = {
  id: "k",
  name: "k",
  owner: null,
  teams: ["web"],
  costCenter: null,
  teamBudgets: budget ? [budget] : [],
  scopes: {},
  limits: { budget_usd: "5" },
  expiresAtMs: null,
};

test.each(["k", teamAccount("web")])(
  "what %s refuses is refused, and nothing stays reserved",
  async (refusing) => {
    const reserved = new Set<string>();
    const limiter: Pick<Limiter, "reserve"> = {
      reserve: async ({ key: { id } }): Promise<Grant | GatewayError> => {
        if (id === refusing) return new GatewayError("budget_exhausted");
        reserved.add(id);
        const end = async () => void reserved.delete(id);
        return { settle: end, release: end };
      },
    };
    // The other members are not called.
    const budgeted = withTeamBudgets({ close: async () => {}, ...limiter } as Limiter);
    const call = { id: "c", key: KEY, admittedAt: new Date(), recorded: true };
    const demand = () => ({ tokens: 0, usd: 1n, minimumUsd: 1n });
    expect(await budgeted.reserve(call, demand)).toBeInstanceOf(GatewayError);
    expect([...reserved]).toEqual([]);
    const granted = await budgeted.reserve({ ...call, key: { ...KEY, teamBudgets: [] } }, demand);
    expect(granted instanceof GatewayError).toBe(refusing === "k");
  },
);

test("the most that a call may cost, and what it counts as while that is unknown, are the largest of any budget", async () => {
  const bounds: Record<string, Partial<Grant>> = {
    k: { boundUsd: "0.9", unknownUsd: "0.25" },
    [teamAccount("web")]: { boundUsd: "10", unknownUsd: "0.25" },
  };
  const limiter: Pick<Limiter, "reserve"> = {
    reserve: async ({ key: { id } }): Promise<Grant> => ({
      settle: () => null,
      release: async () => undefined,
      ...bounds[id],
    }),
  };
  // The other members are not called.
  const budgeted = withTeamBudgets({ close: async () => {}, ...limiter } as Limiter);
  const call = { id: "c", key: KEY, admittedAt: new Date(), recorded: true };
  const granted = () => budgeted.reserve(call, () => ({ tokens: 0, usd: 1n, minimumUsd: 1n }));
  expect(await granted()).toMatchObject({ boundUsd: "10", unknownUsd: "0.25" });
  bounds["k"] = {};
  expect(await granted()).toMatchObject({ boundUsd: "10", unknownUsd: "0.25" });
  bounds[teamAccount("web")] = {};
  expect(await granted()).toMatchObject({ boundUsd: undefined, unknownUsd: undefined });
});
