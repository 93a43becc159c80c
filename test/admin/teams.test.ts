import { beforeAll, describe, expect, test } from "bun:test";
import { fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
  for (const [name, parent] of [
    ["engineering", null],
    ["web", "engineering"],
    ["search", "web"],
  ]) {
    expect((await it.call("POST", "/teams", { name, parent })).status).toBe(201);
  }
});

describe("the tree of teams", () => {
  test("a parent that is unknown, the team itself or below it is 400, and nothing changes", async () => {
    const moved = (parent: string) => fault(it.call("PATCH", "/teams/engineering", { parent }));
    expect(await moved("sales")).toBe("400 /parent: No team is named sales.");
    expect(await moved("engineering")).toBe("400 /parent: A team cannot be above itself.");
    expect(await moved("search")).toBe("400 /parent: The team search is below the team engineering.");
    expect(await fault(it.call("POST", "/teams", { name: "own", parent: "own" }))).toBe(
      "400 /parent: A team cannot be above itself.",
    );
    expect((await it.call("GET", "/teams/engineering")).body.parent).toBeNull();
    expect((await it.call("GET", "/teams/own")).status).toBe(404);
  });

  test("a team moves with those below it", async () => {
    await it.call("PUT", "/teams/product", {});
    expect((await it.call("PATCH", "/teams/web", { parent: "product" })).body.parent).toBe("product");
    expect(await fault(it.call("PATCH", "/teams/product", { parent: "search" }))).toBe(
      "400 /parent: The team search is below the team product.",
    );
    expect((await it.call("PATCH", "/teams/web", { parent: "engineering" })).status).toBe(200);
  });

  test("a team that others or keys belong to cannot be deleted; revoked keys do not count", async () => {
    const key = (await it.call("POST", "/keys", { name: "searcher", team: "search" })).body;
    expect(await fault(it.call("DELETE", "/teams/web"))).toBe("422 The team web is used by: team search.");
    expect(await fault(it.call("DELETE", "/teams/search"))).toBe(
      "422 The team search is used by: key searcher.",
    );
    await it.call("DELETE", `/keys/${key.id}`);
    expect((await it.call("DELETE", "/teams/search")).status).toBe(204);
    expect((await it.call("GET", `/keys/${key.id}`)).body.team).toBeNull();
    expect((await it.call("GET", "/teams/search")).status).toBe(404);
  });
});

describe("a team's budget", () => {
  test("is an exact amount per month unless stated otherwise, and goes with its period", async () => {
    const put = (body: object) => it.call("PUT", "/teams/spenders", body);
    expect((await put({ budget_usd: 0.1 })).body).toMatchObject({
      budget_usd: "0.1",
      budget_period: "month",
    });
    const patched = await it.call("PATCH", "/teams/spenders", { budget_usd: "7", budget_period: "day" });
    expect(patched.body).toMatchObject({ budget_usd: "7", budget_period: "day" });
    const cleared = await it.call("PATCH", "/teams/spenders", { budget_usd: null });
    expect(cleared.body).toMatchObject({ budget_usd: null, budget_period: null });
    expect(await fault(put({ budget_period: "day" }))).toBe(
      "400 /budget_period: Expected only with budget_usd.",
    );
    expect(await fault(put({ budget_usd: -1 }))).toStartWith("400 /budget_usd: Expected");
  });
});

describe("a key", () => {
  test("has the team it is given, keeps it, and may lose it", async () => {
    const { body: made } = await it.call("POST", "/keys", { name: "web-ci", team: "web" });
    expect(made.team).toBe("web");
    const change = (body: object) => it.call("PATCH", `/keys/${made.id}`, body);
    expect((await change({ owner: "ada@example.com" })).body.team).toBe("web");
    expect((await change({ team: null })).body.team).toBeNull();
    expect((await it.call("POST", "/keys", { name: "no-team" })).body.team).toBeNull();
  });

  test("cannot be given a team that does not exist", async () => {
    expect(await fault(it.call("POST", "/keys", { name: "lost", team: "sales" }))).toBe(
      "400 /team: No team is named sales.",
    );
    const { body } = await it.call("POST", "/keys", { name: "found", team: "web" });
    expect(await fault(it.call("PATCH", `/keys/${body.id}`, { team: "sales" }))).toBe(
      "400 /team: No team is named sales.",
    );
    expect((await it.call("GET", `/keys/${body.id}`)).body.team).toBe("web");
  });
});
