import { beforeAll, describe, expect, test } from "bun:test";
import { fault, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
const SERVER = { url: "http://127.0.0.1:9/mcp", allow_private_network: true };

/** By resource: a whole body, a change and what it changes, and a body whose fault only the resource itself knows. */
const RESOURCES = [
  {
    path: "providers",
    whole: { kind: "groq" },
    change: { models: ["llama*"] },
    wrong: { kind: "groq", headers: { authorization: "x" } },
    fault: "/headers/authorization: This header is set by the gateway.",
  },
  {
    path: "routes",
    whole: { surface: "chat", provider: "echo", model: "echo" },
    change: { description: "changed" },
    wrong: { surface: "chat", provider: "echo", model: "" },
    fault: "/model: Expected text of 1 to 256 characters",
  },
  {
    path: "guardrails",
    whole: {},
    change: { position: 7 },
    wrong: { match: { pattern: "(?=a)" } },
    fault: "/match/pattern: Expected an RE2 expression",
  },
  {
    path: "hook-policies",
    whole: { tool: "Bash" },
    change: { reason: "Not here." },
    wrong: { tool: 1 },
    fault: "/tool: Expected text of 1 to 256 characters",
  },
  {
    path: "teams",
    whole: {},
    change: { cost_center: "CC-7" },
    wrong: { parent: "nowhere" },
    fault: "/parent: No team is named nowhere.",
  },
  {
    path: "mcp-servers",
    whole: SERVER,
    change: { prices: { search: "0.01" } },
    wrong: { ...SERVER, credential_header: "mcp-session-id" },
    fault: "/credential_header: This header is set by the gateway.",
  },
  {
    path: "vendor-accounts",
    whole: { vendor: "anthropic" },
    change: { keys: ["apikey_1"] },
    wrong: { vendor: "other" },
    fault: "/providers: Name the providers that this account pays for.",
  },
] as const;

describe.each(RESOURCES)("$path", ({ path, whole, change, wrong, fault: sentence }) => {
  const one = `/${path}/zoo`;

  test("POST makes one, GET shows it, and the list has it under its name", async () => {
    const made = await it.call("POST", `/${path}`, { name: "zoo", ...whole });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ name: "zoo", ...whole })]);
    expect((await it.call("GET", one)).body).toEqual(made.body);
    const { body } = await it.call("GET", `/${path}?limit=1&after=zon`);
    expect([body.data, body.has_more]).toEqual([[made.body], false]);
  });

  test("a name that is taken cannot be made again", async () => {
    expect(await fault(it.call("POST", `/${path}`, { name: "zoo", ...whole }))).toBe(
      "422 The name is taken. Choose another.",
    );
  });

  test("PATCH changes what it gives and nothing else", async () => {
    const before = (await it.call("GET", one)).body;
    const { status, body } = await it.call("PATCH", one, change);
    expect([status, body]).toEqual([200, { ...before, ...change, updated_at: body.updated_at }]);
    expect((await it.call("GET", one)).body).toEqual(body);
  });

  test("PUT replaces: what it leaves out is gone, and when it was made stays", async () => {
    const before = (await it.call("GET", one)).body;
    const { status, body } = await it.call("PUT", one, { name: "zoo", ...whole });
    expect([status, body.created_at]).toEqual([200, before.created_at]);
    expect(body).not.toMatchObject(change);
    expect((await it.call("PUT", `/${path}/other`, whole)).status).toBe(201);
  });

  test("a body, a name or a parameter that is wrong is 400 and changes nothing", async () => {
    const before = (await it.call("GET", one)).body;
    for (const [method, address, body] of [
      ["POST", `/${path}`, { name: "bad", ...wrong }],
      ["PUT", one, wrong],
      ["PATCH", one, wrong],
    ] as const) {
      expect(await fault(it.call(method, address, body))).toStartWith(`400 ${sentence}`);
    }
    expect(await fault(it.call("PATCH", one, { hookz: 1 }))).toBe("400 /hookz: Unexpected property.");
    expect(await fault(it.call("POST", `/${path}`, whole))).toStartWith("400 /name: Expected");
    expect(await fault(it.call("PUT", one, { ...whole, name: "another" }))).toBe(
      "400 /name: Expected the name in the address, or no name.",
    );
    expect(await fault(it.call("PUT", `/${path}/Bad_`, whole))).toStartWith("400 /name: Expected");
    expect(await fault(it.call("GET", `/${path}?offset=1`))).toStartWith("400 offset: Unknown parameter.");
    expect((await it.call("GET", one)).body).toEqual(before);
    expect((await it.call("GET", `/${path}/bad`)).status).toBe(404);
  });

  test("DELETE takes it away; what is not there is 404 by every method but PUT", async () => {
    expect((await it.call("DELETE", one)).status).toBe(204);
    for (const [method, body] of [["GET"], ["PATCH", change], ["DELETE"]] as const) {
      const answer = await it.call(method, one, body);
      expect([method, answer.status, answer.body.error.type]).toEqual([method, 404, "not_found_error"]);
    }
  });
});
