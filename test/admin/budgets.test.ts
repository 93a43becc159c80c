import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { keys } from "#drizzle/schema/keys.ts";
import { requests } from "#drizzle/schema/records.ts";
import { recordAt } from "./records.ts";
import { fault, type World, world } from "./world.ts";

let it: World;

beforeAll(async () => {
  it = await world();
  await it.call("PUT", "/teams/web", { budget_usd: "10" });
  await it.call("PUT", "/teams/search", { parent: "web", budget_usd: "1000000" });
  await it.call("PUT", "/teams/without", {});
  const limits = { budget_usd: "4" };
  const { id } = (await it.call("POST", "/keys", { name: "ci", team: "search", limits })).body;
  const gone = (await it.call("POST", "/keys", { name: "gone", limits })).body;
  await it.call("DELETE", `/keys/${gone.id}`);
  await it.call("POST", "/keys", { name: "unlimited" });
  const used = { keyId: id, teams: ["search", "web"] };
  await it.database.db
    .insert(requests)
    .values([
      recordAt(new Date().toISOString(), { ...used, costUsd: "4.000000000001" }),
      recordAt(new Date().toISOString(), { ...used, costUsd: null, unpriced: true }),
      recordAt(new Date(Date.now() - 40 * 86_400_000).toISOString(), { ...used, costUsd: "100" }),
    ]);
});

describe("budgets", () => {
  test("of teams and of keys that may be used, the fullest first, with exactly what the current period cost", async () => {
    const { data } = (await it.call("GET", "/budgets")).body;
    const month = new Date().toISOString().slice(0, 7);
    expect(data).toMatchObject([
      { kind: "key", name: "ci", owner: null, used_usd: "4.000000000001", budget_usd: "4", at_risk: true },
      { kind: "team", name: "web", used_usd: "4.000000000001", period: "month", from: `${month}-01` },
      { kind: "team", name: "search", used_usd: "4.000000000001", at_risk: false },
    ]);
    expect(data).toHaveLength(3);
  });

  test("are on one page unless `limit` is given; the pages are the whole list", async () => {
    const page = async (query: string) => {
      const { data, ...rest } = (await it.call("GET", `/budgets${query}`)).body;
      return [data.map(({ name }: { name: string }) => name), rest];
    };
    expect(await page("")).toEqual([["ci", "web", "search"], { has_more: false, next: null }]);
    const next = "team/web/month/10";
    expect(await page("?limit=2")).toEqual([["ci", "web"], { has_more: true, next }]);
    expect(await page(`?limit=2&after=${next}`)).toEqual([["search"], { has_more: false, next: null }]);
    expect(await fault(it.call("GET", "/budgets?after=nothing"))).toStartWith(
      "400 after: Expected the `next`",
    );
    expect((await it.call("GET", "/periods?limit=1")).body).toEqual({
      data: [],
      has_more: false,
      next: null,
    });
  });

  test("of a person's own keys that differ are on pages of their own", async () => {
    const amounts = ["7", "6", "5"];
    for (const budget_usd of amounts)
      await it.call("POST", "/keys", { name: `own ${budget_usd}`, owner: "ann@x.y", limits: { budget_usd } });
    const isOwn = eq(keys.owner, "ann@x.y");
    await it.database.db.update(keys).set({ own: true }).where(isOwn);
    const shown: string[] = [];
    let after = "";
    for (let pages = 0; pages < 7 && after !== null; pages++) {
      const { data, next } = (await it.call("GET", `/budgets?limit=1${after}`)).body;
      shown.push(data[0].budget_usd);
      after = next && `&after=${encodeURIComponent(next)}`;
    }
    await it.database.db.delete(keys).where(isOwn);
    expect(shown.sort()).toEqual(["10", "1000000", "4", ...amounts.toReversed()]);
  });

  test("are narrowed to those at risk, and another word for it is refused", async () => {
    const { data } = (await it.call("GET", "/budgets?at_risk=true")).body;
    const names = data.map(({ name }: { name: string }) => name);
    expect(names).toContain("ci");
    expect(names).not.toContain("search");
    expect(await fault(it.call("GET", "/budgets?at_risk=yes"))).toBe("400 at_risk: Expected true or false.");
  });
});

describe("the spend of the month", () => {
  test("is by key, person, team, route or provider, with the latest use, and a lower bound where a cost is unknown", async () => {
    const of = async (by: string) => (await it.call("GET", `/spend?by=${by}`)).body.data;
    const known = { requests: 2, cost_usd: "4.000000000001", floor: true };
    const teams = await of("team");
    expect(teams.map(({ name }: { name: string }) => name).toSorted()).toEqual(["search", "web"]);
    expect(teams).toMatchObject([known, known]);
    const [key] = await of("key");
    expect(key).toMatchObject(known);
    expect(Date.now() - Date.parse(key.last_used_at)).toBeLessThan(86_400_000);
    expect(await of("route")).toMatchObject([known]);
    expect(await fault(it.call("GET", "/spend?by=model"))).toStartWith("400 by: Expected one of key, person");
  });
});
