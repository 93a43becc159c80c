import { beforeAll, expect, test } from "bun:test";
import { ADMIN_KEY, type Json, type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world({ providerKeys: { OPENAI_API_KEY: "sk-environment-0123456789" } });
  it.resolves("api.example.com", "93.184.216.34");
});

const entries = async (query = ""): Promise<Json[]> => (await it.call("GET", `/audit${query}`)).body.data;

const CREDENTIAL = "sk-live-abcdefghijklmnop-WXYZ";

/** One change through every administrative route; `{id}` is the id that the step before it returned. */
const CHANGES: [method: string, path: string, body: unknown, action: string][] = [
  ["POST", "/providers", { name: "p1", kind: "openai", credential: CREDENTIAL }, "provider.set"],
  ["PUT", "/providers/p1", { kind: "openai", credential: CREDENTIAL }, "provider.set"],
  ["PATCH", "/providers/p1", { enabled: false }, "provider.set"],
  ["POST", "/routes", { name: "r1", surface: "chat", provider: "p1", model: "gpt-5" }, "route.set"],
  ["PUT", "/routes/r1", { surface: "chat", provider: "p1", model: "gpt-5" }, "route.set"],
  ["PATCH", "/routes/r1", { description: "Of the test." }, "route.set"],
  ["DELETE", "/routes/r1", undefined, "route.deleted"],
  ["POST", "/discounts", { provider: "p1", percent: 5, effective_from: "2026-01-01" }, "discount.created"],
  ["PATCH", "/discounts/{id}", { percent: 6 }, "discount.changed"],
  ["DELETE", "/discounts/{id}", undefined, "discount.deleted"],
  ["DELETE", "/providers/p1", undefined, "provider.deleted"],
  ["POST", "/keys", { name: "k1" }, "key.created"],
  ["PATCH", "/keys/{id}", { owner: "ada@example.com" }, "key.changed"],
  ["POST", "/keys/{id}/rotate", { grace_seconds: 60 }, "key.rotated"],
  ["DELETE", "/keys/{id}", undefined, "key.revoked"],
  [
    "POST",
    "/prices",
    { model: "m1", effective_from: "2026-01-01", input: "1", output: "2" },
    "price.created",
  ],
  ["PATCH", "/prices/{id}", { input: "3" }, "price.changed"],
  ["DELETE", "/prices/{id}", undefined, "price.deleted"],
  ["POST", "/guardrails", { name: "g1", match: { pattern: "secret" } }, "guardrail.set"],
  ["PUT", "/guardrails/g1", { match: { pattern: "secret" } }, "guardrail.set"],
  ["PATCH", "/guardrails/g1", { enabled: false }, "guardrail.set"],
  ["DELETE", "/guardrails/g1", undefined, "guardrail.deleted"],
  [
    "POST",
    "/mcp-servers",
    { name: "t1", url: "https://api.example.com/mcp", credential: CREDENTIAL },
    "mcp_server.set",
  ],
  [
    "PUT",
    "/mcp-servers/t1",
    { url: "https://api.example.com/mcp", credential: CREDENTIAL },
    "mcp_server.set",
  ],
  ["PATCH", "/mcp-servers/t1", { enabled: false }, "mcp_server.set"],
  ["DELETE", "/mcp-servers/t1", undefined, "mcp_server.deleted"],
  ["POST", "/budgets", { name: "b1", on: { kind: "organisation" }, amount_usd: "5" }, "budget.set"],
  ["PUT", "/budgets/b1", { on: { kind: "organisation" }, amount_usd: "5" }, "budget.set"],
  ["PATCH", "/budgets/b1", { amount_usd: "6" }, "budget.set"],
  ["DELETE", "/budgets/b1", undefined, "budget.deleted"],
  [
    "POST",
    "/hook-policies",
    { name: "h1", tool: "Bash", action: "deny", reason: "Not here." },
    "hook_policy.set",
  ],
  ["PUT", "/hook-policies/h1", { tool: "Bash", action: "deny", reason: "Not here." }, "hook_policy.set"],
  ["PATCH", "/hook-policies/h1", { reason: "Not there." }, "hook_policy.set"],
  ["DELETE", "/hook-policies/h1", undefined, "hook_policy.deleted"],
  [
    "PUT",
    "/export/destination",
    {
      ...{ endpoint: "https://s3.example.com", bucket: "focus", access_key_id: "id" },
      secret_access_key: CREDENTIAL,
    },
    "export_destination.set",
  ],
  ["DELETE", "/export/destination", undefined, "export_destination.deleted"],
  [
    "POST",
    "/vendor-accounts",
    { name: "v1", vendor: "openai", credential: CREDENTIAL },
    "vendor_account.set",
  ],
  ["PUT", "/vendor-accounts/v1", { vendor: "openai", credential: CREDENTIAL }, "vendor_account.set"],
  ["PATCH", "/vendor-accounts/v1", { enabled: false }, "vendor_account.set"],
  [
    "POST",
    "/vendor-bills/import?account=v1",
    [{ ChargePeriodStart: "2026-11-01", BilledCost: "1", BillingCurrency: "USD" }],
    "vendor_bill.read",
  ],
  ["DELETE", "/vendor-accounts/v1", undefined, "vendor_account.deleted"],
  ["POST", "/teams", { name: "e1" }, "team.set"],
  ["PUT", "/teams/e1", { cost_center: "CC-1" }, "team.set"],
  ["PATCH", "/teams/e1", { cost_center: "CC-2" }, "team.set"],
  ["DELETE", "/teams/e1", undefined, "team.deleted"],
  ["POST", "/people", { email: "Ada@example.com" }, "person.created"],
  ["PATCH", "/people/{id}", { role: "manager" }, "person.changed"],
  ["DELETE", "/people/{id}", undefined, "person.disabled"],
  ["POST", "/tokens", { name: "ci", role: "manager" }, "token.created"],
  ["DELETE", "/tokens/{id}", undefined, "token.revoked"],
  ["POST", "/role-mappings", { group: "platform", role: "manager" }, "role_mapping.set"],
  ["PUT", "/role-mappings/platform", { role: "member" }, "role_mapping.set"],
  ["PATCH", "/role-mappings/platform", { role: "manager" }, "role_mapping.set"],
  ["DELETE", "/role-mappings/platform", undefined, "role_mapping.deleted"],
  ["POST", "/sign-in-links", { email: "bob@example.com" }, "sign_in_link.created"],
  ["PATCH", "/settings", { hooks: false }, "settings.changed"],
  ["POST", "/repositories/backfill", {}, "repositories.backfill"],
  ["POST", "/setup-links", undefined, "setup_link.created"],
  ["POST", "/periods/close", { month: "2026-01" }, "period.closed"],
  ["POST", "/periods/reopen", { month: "2026-01" }, "period.reopened"],
];

/** Audited elsewhere, because they need records, or a whole gateway. */
const ELSEWHERE = new Set([
  // These change nothing.
  "POST /classifier/:id",
  "POST /guardrails/:id",
  "POST /providers/:id/test",
  "POST /providers/:id",
  "POST /prices/reprice",
  "POST /vendor-accounts/:id/fetch",
  ...["seats", "commitments"].flatMap((path) => [
    `POST /${path}`,
    `PATCH /${path}/:id`,
    `DELETE /${path}/:id`,
  ]),
  "POST /seats/:id",
  "POST /export/:id/run",
  "POST /prices/reprice/:id/cancel",
  "POST /prices/refresh",
  "POST /prices/changes/:id/approve",
  "POST /prices/changes/:id/dismiss",
  "POST /prices/restate",
  "POST /prices/restate/:id/cancel",
  "POST /pull-requests/:id/accept",
  "POST /github-app/:id",
  "PATCH /people/:id/accounts/:account",
  "DELETE /people/:id/accounts/:account",
  "POST /reports",
  "PUT /reports/:id",
  "PATCH /reports/:id",
  "DELETE /reports/:id",
]);

test("every change through the admin API is one entry: who, when, what, before and after", async () => {
  let id = "";
  for (const [method, template, body, action] of CHANGES) {
    const path = template.replace("{id}", id);
    const newest = (await entries("?limit=1"))[0];
    const answer = await it.call(method, path, body);
    expect([method, path, answer.status < 300, answer.text]).toEqual([method, path, true, answer.text]);
    if (answer.body?.id) id = answer.body.id;
    const [entry, next] = await entries("?limit=2");
    expect([method, path, entry.action, next?.id]).toEqual([method, path, action, newest?.id]);
    expect(entry).toMatchObject({ actor: "admin key", request_id: answer.headers.get("x-request-id") });
    expect(Date.parse(entry.at)).toBeGreaterThan(0);
    if (method === "DELETE" && !["key.revoked", "person.disabled"].includes(action)) {
      expect([action, entry.before === null, entry.after]).toEqual([action, false, null]);
    } else expect([action, entry.after === null]).toEqual([action, false]);
    if (method === "PATCH") expect(entry.before).not.toEqual(entry.after);
  }
});

test("no administrative route that changes something is missing from the audit log", () => {
  const covered = new Set(CHANGES.map(([method, path]) => `${method} ${pattern(path)}`));
  const routes = it.app.routes
    .filter(({ method, path }) => path.startsWith("/admin/v1/") && method !== "GET")
    .map(({ method, path }) => `${method} ${pattern(path.slice("/admin/v1".length))}`);
  const missing = routes.filter((route) => !covered.has(route) && !ELSEWHERE.has(route));
  expect([...new Set(missing)]).toEqual([]);
});

/** `/routes/r1` and `/routes/:name` as `/routes/:id`. */
const pattern = (path: string) => {
  const [, first, second, ...rest] = path.split("/");
  const isAction = ["backfill", "reprice", "restate", "close", "reopen", "refresh", "changes"].includes(
    second ?? "",
  );
  return ["", first, ...(second === undefined ? [] : [isAction ? second : ":id"]), ...rest].join("/");
};

test("credentials appear as their last four characters, and keys' secrets not at all", async () => {
  const [set] = await entries("?action=mcp_server.set");
  expect(set.after.credential).toBe("…WXYZ");
  const { text } = await it.call("GET", "/audit?limit=500");
  expect(text).not.toContain(CREDENTIAL.slice(0, 12));
  expect(text).not.toContain("sk-environment");
  expect(text).not.toContain(ADMIN_KEY);
  const secret = (await it.call("POST", "/keys", { name: "k2" })).body.secret;
  expect((await it.call("GET", "/audit?limit=1")).text).not.toContain(secret);
});

test("a change that fails leaves no entry", async () => {
  const [newest] = await entries("?limit=1");
  expect((await it.call("DELETE", "/providers/echo")).status).toBe(422);
  expect((await it.call("PATCH", "/settings", { default_route: "nothing" })).status).toBe(422);
  expect((await entries("?limit=1"))[0].id).toBe(newest.id);
});

test("the gateway's own changes name the first start and the environment", async () => {
  expect(await entries("?actor=first start")).toMatchObject([{ action: "installation.created" }]);
  expect(await entries("?actor=environment")).toMatchObject([
    { action: "provider.set", subject: "openai", address: null, request_id: null },
  ]);
});

test("entries are found by actor, action, subject and time, and streamed as lines", async () => {
  expect(await entries("?subject=g1&action=guardrail.set")).toHaveLength(3);
  expect(await entries("?to=2020-01-01")).toEqual([]);
  expect((await it.call("GET", "/audit?action=nothing")).body.error.message).toStartWith(
    "action: Expected one of ",
  );
  const all = (await it.call("GET", "/audit?limit=500")).body.data;
  const { headers, status } = await it.app
    .handle(
      new Request("http://gateway.test/admin/v1/audit?format=ndjson", {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      }),
    )
    .then(async (answer) => {
      const lines = (await answer.text()).trimEnd().split("\n");
      const [exported, ...others] = lines.map((line) => JSON.parse(line));
      expect(others).toEqual(all);
      expect(exported).toMatchObject({ action: "data.exported", actor: "admin key", subject: "audit" });
      return answer;
    });
  expect([status, headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
});

test("nobody changes or deletes an entry", async () => {
  const { sql } = it.database;
  expect(sql`update audit_entries set actor = 'somebody'`.then(() => "changed")).rejects.toThrow(
    /cannot be changed/,
  );
  expect(sql`delete from audit_entries`.then(() => "deleted")).rejects.toThrow(/cannot be changed/);
});
