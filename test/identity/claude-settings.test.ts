import { beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { TALLYGATE } from "#test/support/checkout.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";

const place = scratch();
let gateway: LocalGateway;
const keys = {} as Record<"nobody" | "search" | "below", string>;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/gateway` });
  await gateway.admin("PUT", "/teams/search", {});
  await gateway.admin("PUT", "/teams/below", { parent: "search" });
  for (const name of ["nobody", "search", "below"] as const) {
    const team = name === "nobody" ? null : name;
    keys[name] = (await gateway.admin<{ secret: string }>("POST", "/keys", { name, team })).secret;
  }
});

const fetched = (of: keyof typeof keys, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/managed/settings`, { headers: { authorization: `Bearer ${keys[of]}`, ...headers } });
const settingsOf = async (of: keyof typeof keys) => {
  const answer = await fetched(of);
  return answer.status === 200 ? (await answer.json()).settings : answer.status;
};
const patch = (path: string, claude_settings: unknown) =>
  fetch(`${gateway.url}/admin/v1${path}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ claude_settings }),
  });

describe("Claude Code's settings", () => {
  test("are the team's, else those of the team above, else the organisation's, and 404 without any", async () => {
    expect(await settingsOf("below")).toBe(404);
    await patch("/settings", { model: "organisation" });
    for (const of of ["nobody", "search", "below"] as const) {
      expect(await settingsOf(of)).toEqual({ model: "organisation" });
    }
    await patch("/teams/search", { model: "search" });
    expect(await settingsOf("nobody")).toEqual({ model: "organisation" });
    expect(await settingsOf("below")).toEqual({ model: "search" });
    await patch("/teams/below", {});
    expect(await settingsOf("below")).toEqual({});
    await patch("/teams/below", null);
    await patch("/teams/search", null);
    await patch("/settings", null);
    expect(await settingsOf("search")).toBe(404);
    const missing = await (await fetched("search")).json();
    expect(missing).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });

  test("have the checksum of their sorted JSON, and are sent again only when it differs", async () => {
    await patch("/settings", { zeta: [{ b: 1, a: "é" }], alpha: { y: null, x: true } });
    const answer = await fetched("nobody");
    const { checksum, uuid } = await answer.json();
    const canonical = '{"alpha":{"x":true,"y":null},"zeta":[{"a":"é","b":1}]}';
    expect(checksum).toBe(`sha256:${createHash("sha256").update(canonical).digest("hex")}`);
    expect([uuid, answer.headers.get("etag")]).toEqual([checksum, `"${checksum}"`]);
    for (const tag of [`"${checksum}"`, checksum]) {
      const same = await fetched("nobody", { "if-none-match": tag });
      expect([same.status, await same.text()]).toEqual([304, ""]);
    }
    for (const tag of ["*", '"sha256:other"']) {
      expect((await fetched("nobody", { "if-none-match": tag })).status).toBe(200);
    }
    await patch("/settings", { alpha: 1 });
    expect((await fetched("nobody", { "if-none-match": `"${checksum}"` })).status).toBe(200);
  });

  test.each([
    ["a list", []],
    ["a text", "{}"],
    ["more than 64 KiB", { a: "x".repeat(65_536) }],
    ["what Postgres cannot store", { a: "\u0000" }],
    ["half a character", { a: "\ud800" }],
  ])("are refused as %s", async (_, document) => {
    for (const path of ["/settings", "/teams/search"]) expect((await patch(path, document)).status).toBe(400);
  });

  test("are applied from a file, and the same file then changes nothing", async () => {
    const file = `${place.path}/teams.json`;
    const document = { permissions: { deny: ["WebFetch"] }, model: "applied" };
    await Bun.write(file, JSON.stringify({ teams: { search: { claude_settings: document } } }));
    const apply = async () => {
      const run = Bun.spawn([...TALLYGATE, "apply", file, "--url", gateway.url], {
        env: { PATH: process.env["PATH"], HOME: place.path, ADMIN_KEY },
        stderr: "pipe",
      });
      return [await run.exited, await new Response(run.stderr).text()];
    };
    expect(await apply()).toEqual([0, ""]);
    expect(await settingsOf("below")).toEqual(document);
    const changes = async () => (await gateway.admin<{ data: unknown[] }>("GET", "/audit")).data.length;
    const before = await changes();
    expect(await apply()).toEqual([0, ""]);
    expect(await changes()).toBe(before);
    await patch("/teams/search", null);
  });

  test("leave an entry in the audit log at each change", async () => {
    await patch("/teams/search", { model: "audited" });
    const { data } = await gateway.admin<{ data: unknown[] }>("GET", "/audit?subject=search");
    expect(data[0]).toMatchObject({
      action: "team.set",
      before: { claude_settings: null },
      after: { claude_settings: { model: "audited" } },
    });
  });

  test("need a key", async () => {
    const answer = await fetch(`${gateway.url}/managed/settings`);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([401, "false"]);
  });
});

describe("Claude Code's telemetry", () => {
  test.each(["metrics", "logs", "traces"])(
    "of %s is accepted with a key and refused without",
    async (signal) => {
      const send = (headers: Record<string, string>) =>
        fetch(`${gateway.url}/v1/${signal}`, {
          method: "POST",
          headers: { "content-type": "application/x-protobuf", ...headers },
          body: new Uint8Array(100),
        });
      const answer = await send({ authorization: `Bearer ${keys.nobody}` });
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
      expect((await send({})).status).toBe(401);
    },
  );
});
