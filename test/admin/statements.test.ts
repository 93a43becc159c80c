import { beforeAll, describe, expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { type RequestFacts, seed } from "#test/reports/world.ts";
import { ADMIN_KEY, fault, type World, world } from "./world.ts";

let it: World;
const at = "2026-10-05T10:00:00Z";
const web = { teams: ["web", "all"], costCenter: "cc1", owner: "ann", input: 10, output: 1 };
const late: RequestFacts = { ...web, at: "2026-10-31T23:59:59Z", cost: "0.1" };

async function put(requests: RequestFacts[]): Promise<void> {
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await seed(sql, "default", { requests });
  await sql.end();
}

beforeAll(async () => {
  it = await world();
  await put([
    { ...web, at, cost: "0.1", basis: "contract", listCost: "0.3" },
    { ...web, at, cost: "0.2", user: "eve" },
    { ...web, at, cost: "5", channel: "subscription" },
    { ...web, at, cost: null, teams: ["all"], costCenter: "cc2" },
    { at, cost: "0.7", basis: "vendor" },
    { ...web, at: "2026-11-01T00:00:00Z", cost: "9" },
  ]);
});

const statement = async (query: string) => (await it.call("GET", `/statements?month=2026-10&${query}`)).body;
const csvOf = async (query: string) => {
  const address = `http://gateway.test/admin/v1/statements?month=2026-10&${query}&format=csv`;
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  return (await it.app.handle(new Request(address, { headers }))).text();
};
const ZERO = { input_tokens: "0", output_tokens: "0", unpriced_requests: 0, floor: false };

describe("a month's statement", () => {
  test("adds up calls by the team that made them, exactly, and in all", async () => {
    const { lines, total, version } = await statement("by=team");
    expect(version).toBeNull();
    expect(lines.map(({ records: _, ...line }: { records: string }) => line)).toEqual([
      {
        ...{ ...ZERO, name: "(none)", requests: 1, people: 0, cost_usd: "0.7" },
        ...{ list_cost_usd: null, savings_usd: null },
      },
      {
        ...{ ...ZERO, name: "web", requests: 3, people: 2, input_tokens: "30", output_tokens: "3" },
        ...{ cost_usd: "0.3", list_cost_usd: "0.5", savings_usd: "0.2" },
      },
      {
        ...{ ...ZERO, name: "all", requests: 1, people: 1, input_tokens: "10", output_tokens: "1" },
        ...{ cost_usd: "0", list_cost_usd: null, savings_usd: null, unpriced_requests: 1, floor: true },
      },
    ]);
    expect(total).toMatchObject({ requests: 5, people: 2, cost_usd: "1", unpriced_requests: 1, floor: true });
  });

  test.each(["team", "cost_center"])("by %s has a line's records behind it, and no others", async (by) => {
    const { lines } = await statement(`by=${by}`);
    expect(lines.length).toBeGreaterThan(2);
    for (const { records, requests } of lines) {
      expect((await it.call("GET", `/requests?${records}`)).body.data).toHaveLength(requests);
    }
  });

  test("is a file of CSV, too", async () => {
    const [head = "", ...rest] = (await csvOf("by=cost_center")).trimEnd().split("\r\n");
    expect(head).toStartWith("cost_center,requests,people,input_tokens,");
    expect(rest.map((line) => line.split(",")[0])).toEqual(["(none)", "cc1", "cc2", "total"]);
  });

  test.each([
    ["month=2026-13", "month: Expected a month"],
    ["by=team", "month: Expected a month"],
    ["month=2026-10&by=person", "by: Expected one of team, cost_center."],
    ["month=2026-10&version=9", "404"],
  ])("%s is refused", async (query, message) => {
    const { status, body } = await it.call("GET", `/statements?${query}`);
    expect(`${status} ${body.error.message}`).toContain(message);
  });

  test("of a closed month stays what it was, each closing a version", async () => {
    const before = await statement("by=team");
    const csv = await csvOf("by=team");
    await it.call("POST", "/periods/close", { month: "2026-10" });
    await put([late]);
    const { version, closed_at, versions, ...closed } = await statement("by=team");
    expect([version, versions.length, typeof closed_at]).toEqual([1, 1, "string"]);
    expect(JSON.stringify([closed.lines, closed.total])).toBe(JSON.stringify([before.lines, before.total]));
    expect(await csvOf("by=team")).toBe(csv);
    await it.call("POST", "/periods/reopen", { month: "2026-10" });
    expect((await statement("by=team")).total.cost_usd).toBe("1.1");
    await it.call("POST", "/periods/close", { month: "2026-10" });
    expect(await statement("by=team")).toMatchObject({ version: 2, total: { cost_usd: "1.1" } });
    expect(await statement("by=team&version=1")).toMatchObject({ version: 1, total: before.total });
    expect((await statement("by=cost_center&version=2")).total.cost_usd).toBe("1.1");
  });

  test("is not kept once records of the month are dropped: it would leave them out", async () => {
    const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
    await sql`insert into rollup_state (org_id, rolled_to, raw_from) values ('default', '2026-07-02', '2026-07-02')
      on conflict (org_id) do update set raw_from = '2026-07-02'`;
    await sql.end();
    const close = async (month: string) => (await it.call("POST", "/periods/close", { month })).status;
    expect([await close("2026-07"), await close("2026-08")]).toEqual([200, 200]);
    const read = (month: string) => it.call("GET", `/statements?month=${month}`);
    expect(await fault(read("2026-07"))).toStartWith("400 month: single records are kept since 2026-07-02");
    expect((await read("2026-08")).body.version).toBe(1);
    // A reconciliation and the use of seats would leave them out, too.
    const kept = "single records are kept since 2026-07-02";
    expect(await fault(it.call("GET", "/reconciliation?from=2026-07-01&to=2026-07-31"))).toContain(
      `from: ${kept}`,
    );
    expect(await fault(it.call("GET", "/seats/use?month=2026-07"))).toContain(`month: ${kept}`);
  });
});
