import { beforeAll, describe, expect, test } from "bun:test";
import { CATALOGUE } from "#gateway/reports/catalogue.ts";
import { fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
const SPEC = {
  source: "requests",
  dimensions: ["tag"],
  measures: ["cost_usd"],
  filters: { client: ["cli"] },
  range: "mtd",
  compare: "previous_period",
  view: "bar",
};
const body = { id: "by-tag", title: "By tag", description: "Where the money goes.", spec: SPEC };
const saved = (id: string) => ({ ...body, id });

describe("saved reports", () => {
  test("are created, read, changed, replaced and deleted, each change with a line in the audit", async () => {
    const { status, body: view } = await it.call("POST", "/reports", body);
    expect([status, view]).toEqual([
      201,
      { ...body, built_in: false, created_at: expect.any(String), updated_at: expect.any(String) },
    ]);
    expect((await it.call("GET", "/reports/by-tag")).body).toEqual(view);
    const patched = await it.call("PATCH", "/reports/by-tag", { title: "Tags" });
    expect([patched.status, patched.body.title, patched.body.spec]).toEqual([200, "Tags", SPEC]);
    const { id: _, description: __, ...rest } = body;
    expect((await it.call("PUT", "/reports/by-tag", rest)).body).toMatchObject({
      description: "",
      created_at: view.created_at,
    });
    expect((await it.call("PUT", "/reports/new-one", rest)).status).toBe(201);
    expect((await it.call("DELETE", "/reports/by-tag")).status).toBe(204);
    expect((await it.call("GET", "/reports/by-tag")).status).toBe(404);
    expect((await it.call("DELETE", "/reports/by-tag")).status).toBe(404);
    const { data } = (await it.call("GET", "/audit?limit=5")).body;
    expect(data.map((row: { action: string; subject: string }) => [row.action, row.subject])).toEqual([
      ["report.deleted", "by-tag"],
      ["report.saved", "new-one"],
      ["report.saved", "by-tag"],
      ["report.saved", "by-tag"],
      ["report.saved", "by-tag"],
    ]);
    await it.call("DELETE", "/reports/new-one");
  });

  test("are listed behind the built-in ones, page by page", async () => {
    for (const id of ["z", "a", "m"]) await it.call("POST", "/reports", saved(id));
    const seen: string[] = [];
    let after = "";
    do {
      const page = (await it.call("GET", `/reports?limit=4${after}`)).body;
      seen.push(...page.data.map((row: { id: string }) => row.id));
      after = page.next === null ? "" : `&after=${page.next}`;
    } while (after !== "");
    expect(seen).toEqual([...CATALOGUE.map(({ id }) => id), "a", "m", "z"]);
  });

  test("that are built in are marked, and cannot be changed", async () => {
    const { body: view } = await it.call("GET", "/reports/spend-by-model");
    expect(view).toMatchObject({ id: "spend-by-model", built_in: true, created_at: null });
    const refusal = "403 The report is built in and cannot be changed.";
    const { id: _, ...rest } = body;
    expect(await fault(it.call("PUT", "/reports/spend-by-model", rest))).toBe(refusal);
    expect(await fault(it.call("PATCH", "/reports/spend-by-model", { title: "x" }))).toBe(refusal);
    expect(await fault(it.call("DELETE", "/reports/spend-by-model"))).toBe(refusal);
    expect((await it.call("POST", "/reports", saved("spend-by-model"))).status).toBe(422);
  });

  test.each<[object, string]>([
    [{ ...body, id: "A b" }, "400 /id: "],
    [{ ...body, title: undefined }, "400 /title: "],
    [{ ...body, extra: 1 }, "400 /extra: "],
    [{ ...body, spec: { ...SPEC, source: "outcomes" } }, "400 spec.dimensions[0]: source outcomes has no"],
    [
      { ...body, spec: { ...SPEC, measures: ["merged_prs"] } },
      "400 spec.measures[0]: source requests has no",
    ],
    [
      { ...body, spec: { ...SPEC, range: { from: "soon", to: null } } },
      "400 spec.range.from: must be a date",
    ],
    [{ ...body, spec: { ...SPEC, filters: { day: ["soon"] } } }, "400 spec.filters.day[0]: must be a day"],
    [saved("a"), "422 The name is taken. Choose another."],
  ])("a report that cannot be made is refused, with the member and the reason", async (sent, message) => {
    expect(await fault(it.call("POST", "/reports", sent))).toStartWith(message);
  });
});
