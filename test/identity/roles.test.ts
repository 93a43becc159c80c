import { beforeAll, describe, expect, test } from "bun:test";
import { ROLES, type Role } from "#shared/admin/people.ts";
import { newId } from "#shared/ids.ts";
import type { Result } from "#shared/report.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { type Browser, signIn } from "./browser.ts";

const NAMED = [
  "providers",
  "routes",
  "guardrails",
  "hook-policies",
  "mcp-servers",
  "teams",
  "vendor-accounts",
  "budgets",
  "alerts",
].flatMap((path) => [
  `GET /admin/v1/${path}`,
  `POST /admin/v1/${path}`,
  ...["GET", "PUT", "PATCH", "DELETE"].map((method) => `${method} /admin/v1/${path}/{name}`),
]);

/** The least role for every address that people use; what calls of models need is a client key. */
const LEAST: Record<string, Role> = {
  ...Object.fromEntries(NAMED.map((operation) => [operation, "administrator"] as const)),
  "GET /admin/v1/classifier": "administrator",
  "POST /admin/v1/classifier/try": "administrator",
  "POST /admin/v1/guardrails/try": "administrator",
  "POST /admin/v1/providers/{name}/test": "administrator",
  "POST /admin/v1/providers/test": "administrator",
  "POST /admin/v1/vendor-accounts/{name}/fetch": "administrator",
  "GET /admin/v1/seats": "administrator",
  "POST /admin/v1/seats": "administrator",
  "GET /admin/v1/seats/use": "administrator",
  "GET /admin/v1/seats/{id}": "administrator",
  "PATCH /admin/v1/seats/{id}": "administrator",
  "DELETE /admin/v1/seats/{id}": "administrator",
  "GET /admin/v1/commitments": "administrator",
  "POST /admin/v1/commitments": "administrator",
  "GET /admin/v1/commitments/use": "administrator",
  "GET /admin/v1/commitments/{id}": "administrator",
  "PATCH /admin/v1/commitments/{id}": "administrator",
  "DELETE /admin/v1/commitments/{id}": "administrator",
  "POST /admin/v1/seats/import": "administrator",
  "GET /admin/v1/reconciliation": "administrator",
  "GET /admin/v1/vendor-bills": "administrator",
  "POST /admin/v1/vendor-bills/import": "administrator",
  "GET /admin/v1/budgets": "manager",
  "POST /admin/v1/alerts/{name}/test": "administrator",
  "GET /admin/v1/export": "administrator",
  "GET /admin/v1/export/destination": "administrator",
  "PUT /admin/v1/export/destination": "administrator",
  "DELETE /admin/v1/export/destination": "administrator",
  "POST /admin/v1/export/destination/run": "administrator",
  "GET /admin/v1/statements": "administrator",
  "GET /admin/v1/forecast": "manager",
  "GET /admin/v1/anomalies": "manager",
  "GET /admin/v1/spend": "administrator",
  "GET /admin/v1/search": "member",
  "GET /admin/v1/keys": "administrator",
  "POST /admin/v1/keys": "administrator",
  "GET /admin/v1/keys/{id}": "administrator",
  "PATCH /admin/v1/keys/{id}": "administrator",
  "DELETE /admin/v1/keys/{id}": "administrator",
  "POST /admin/v1/keys/{id}/rotate": "administrator",
  "GET /admin/v1/keys/{id}/batches": "administrator",
  "GET /admin/v1/discounts": "administrator",
  "POST /admin/v1/discounts": "administrator",
  "GET /admin/v1/discounts/{id}": "administrator",
  "PATCH /admin/v1/discounts/{id}": "administrator",
  "DELETE /admin/v1/discounts/{id}": "administrator",
  "GET /admin/v1/prices": "administrator",
  "POST /admin/v1/prices": "administrator",
  "GET /admin/v1/prices/in-force": "administrator",
  "GET /admin/v1/prices/reprice": "administrator",
  "POST /admin/v1/prices/reprice": "administrator",
  "GET /admin/v1/prices/reprice/{id}": "administrator",
  "POST /admin/v1/prices/reprice/{id}/cancel": "administrator",
  "POST /admin/v1/prices/refresh": "administrator",
  "GET /admin/v1/prices/changes": "administrator",
  "POST /admin/v1/prices/changes/{id}/approve": "administrator",
  "POST /admin/v1/prices/changes/{id}/dismiss": "administrator",
  "GET /admin/v1/prices/restate": "administrator",
  "POST /admin/v1/prices/restate": "administrator",
  "GET /admin/v1/prices/restate/{id}": "administrator",
  "POST /admin/v1/prices/restate/{id}/cancel": "administrator",
  "GET /admin/v1/periods": "administrator",
  "POST /admin/v1/periods/close": "administrator",
  "POST /admin/v1/periods/reopen": "administrator",
  "GET /admin/v1/prices/unpriced": "administrator",
  "GET /admin/v1/prices/{id}": "administrator",
  "PATCH /admin/v1/prices/{id}": "administrator",
  "DELETE /admin/v1/prices/{id}": "administrator",
  "GET /admin/v1/reports": "manager",
  "POST /admin/v1/reports": "manager",
  "GET /admin/v1/reports/{id}": "manager",
  "PUT /admin/v1/reports/{id}": "manager",
  "PATCH /admin/v1/reports/{id}": "manager",
  "DELETE /admin/v1/reports/{id}": "manager",
  "GET /admin/v1/settings": "administrator",
  "PATCH /admin/v1/settings": "administrator",
  "GET /admin/v1/requests": "member",
  "GET /admin/v1/requests/{id}": "member",
  "GET /admin/v1/requests/{id}/body": "administrator",
  "GET /admin/v1/audit": "administrator",
  "GET /admin/v1/audit/values": "administrator",
  "GET /admin/v1/metrics-dropped": "administrator",
  "GET /admin/v1/tool-calls": "member",
  "GET /admin/v1/agent-sessions": "administrator",
  "GET /admin/v1/pull-requests": "member",
  "GET /admin/v1/pull-requests/dearest": "manager",
  "GET /admin/v1/pull-requests/{id}": "member",
  "POST /admin/v1/pull-requests/{id}/accept": "administrator",
  "GET /admin/v1/repositories": "administrator",
  "POST /admin/v1/repositories/backfill": "administrator",
  "POST /admin/v1/setup-links": "administrator",
  "GET /admin/v1/github-app": "administrator",
  "POST /admin/v1/github-app/webhook-secret": "administrator",
  "GET /admin/v1/people": "administrator",
  "POST /admin/v1/people": "administrator",
  "GET /admin/v1/people/{id}": "administrator",
  "PATCH /admin/v1/people/{id}": "administrator",
  "DELETE /admin/v1/people/{id}": "administrator",
  "GET /admin/v1/people/{id}/accounts": "administrator",
  "PATCH /admin/v1/people/{id}/accounts/{account}": "administrator",
  "DELETE /admin/v1/people/{id}/accounts/{account}": "administrator",
  "GET /admin/v1/tokens": "administrator",
  "POST /admin/v1/tokens": "administrator",
  "GET /admin/v1/tokens/{id}": "administrator",
  "DELETE /admin/v1/tokens/{id}": "administrator",
  "GET /admin/v1/role-mappings": "administrator",
  "POST /admin/v1/role-mappings": "administrator",
  "GET /admin/v1/role-mappings/{group}": "administrator",
  "PUT /admin/v1/role-mappings/{group}": "administrator",
  "PATCH /admin/v1/role-mappings/{group}": "administrator",
  "DELETE /admin/v1/role-mappings/{group}": "administrator",
  "POST /admin/v1/sign-in-links": "administrator",
  "GET /admin/v1/digest": "administrator",
  "GET /admin/v1/digest/preview": "administrator",
  "PUT /admin/v1/digest/webhook": "administrator",
  "DELETE /admin/v1/digest/webhook": "administrator",
  "GET /v1/reports": "manager",
  "GET /v1/reports/catalogue": "manager",
  "POST /v1/reports": "manager",
  "POST /v1/reports/overview": "manager",
  "POST /v1/reports/query": "manager",
  "GET /v1/me": "member",
  "GET /v1/me/overview": "member",
  "GET /v1/me/usage": "member",
  "GET /v1/me/keys": "member",
  "POST /v1/me/keys": "member",
  "POST /v1/me/keys/{id}/rotate": "member",
  "DELETE /v1/me/keys/{id}": "member",
  "GET /v1/me/seats": "member",
  "GET /v1/me/sessions": "member",
  "DELETE /v1/me/sessions/{id}": "member",
  "GET /v1/me/devices/{code}": "member",
  "POST /v1/me/devices/{code}": "member",
};

/** Everybody may read them. */
const OPEN = ["GET /v1/reports/schema.json", "GET /v1/reports/query-schema.json"];
const OF_PEOPLE = /^\w+ (?:\/admin\/v1\/|\/v1\/me\b|\/v1\/reports\b)/;

const NOWHERE = "http://127.0.0.1:9";
let gateway: WiredGateway;
const browsers = {} as Record<"ada" | "max" | "mia" | "bob" | "eve", Browser>;
const sessions = {} as Record<"alpha" | "below" | "beta", string>;

/** A call of the built-in provider with a new key; returns its session. */
async function callAs(owner: string, team: string, user?: string): Promise<string> {
  const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
    name: `key of ${owner}${user ? ` for ${user}` : ""}`,
    owner,
    team,
  });
  const session = newId();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      "x-session-id": session,
    },
    body: JSON.stringify({ model: "echo", user, messages: [{ role: "user", content: "hello" }] }),
  });
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  return session;
}

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
  await gateway.admin("PUT", "/teams/alpha", {});
  await gateway.admin("PUT", "/teams/below", { parent: "alpha" });
  await gateway.admin("PUT", "/teams/beta", { cost_center: "beta-center" });
  for (const person of [
    { email: "ada@example.com", role: "administrator" },
    { email: "max@example.com", role: "manager" },
    { email: "mia@example.com", role: "manager", team: "alpha" },
    { email: "bob@example.com", role: "member", team: "alpha" },
    { email: "eve@example.com", role: "member", team: "beta" },
  ]) {
    await gateway.admin("POST", "/people", person);
  }
  for (const name of ["ada", "max", "mia", "bob", "eve"] as const) {
    browsers[name] = await signIn(gateway, `${name}@example.com`);
  }
  sessions.alpha = await callAs("Bob@Example.com", "alpha");
  sessions.below = await callAs("cid@example.com", "below");
  sessions.beta = await callAs("eve@example.com", "beta");
  for (const session of Object.values(sessions)) await gateway.records(session);
});

describe("every address of the OpenAPI description", () => {
  test("admits each role that it is for, and no other", async () => {
    const document = await (await fetch(`${gateway.url}/openapi/json`)).json();
    const operations = Object.entries<object>(document.paths)
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .filter((name) => OF_PEOPLE.test(name) && !OPEN.includes(name));
    expect(operations.sort()).toEqual(Object.keys(LEAST).sort());

    const asked: Record<Role, Browser> = {
      member: browsers.bob,
      manager: browsers.mia,
      administrator: browsers.ada,
    };
    for (const operation of operations) {
      const [method = "", path = ""] = operation.split(" ");
      const address = path.replaceAll(/\{(?:id|name|group|account)\}/g, newId());
      for (const role of ROLES) {
        const body = method === "GET" || method === "DELETE" ? undefined : {};
        const answer = await asked[role].send(method, address, body);
        const text = await answer.text();
        // Files are not JSON.
        const { error } = answer.ok ? {} : JSON.parse(text || "{}");
        const admitted = ROLES.indexOf(role) >= ROLES.indexOf(LEAST[operation] ?? "administrator");
        const refused = answer.status === 403 && error.code === "role_not_allowed";
        expect([operation, role, refused, answer.status === 401]).toEqual([
          operation,
          role,
          !admitted,
          false,
        ]);
      }
    }
  });
});

describe("a search by name", () => {
  const found = async (browser: Browser, q: string): Promise<string[]> => {
    const { data } = await (await browser.send("GET", `/admin/v1/search?q=${encodeURIComponent(q)}`)).json();
    return data.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`).sort();
  };

  test("finds for an administrator people, keys, teams and models; for a manager those of the team; for a member none", async () => {
    await gateway.admin("PUT", "/routes/betatest", { surface: "chat", provider: "echo", model: "echo" });
    expect(await found(browsers.ada, "BET")).toEqual(["route betatest", "team beta"]);
    expect(await found(browsers.ada, "eve@")).toEqual([
      "key key of eve@example.com",
      "person eve@example.com",
    ]);
    expect(await found(browsers.mia, "be")).toEqual(["team below"]);
    expect(await found(browsers.mia, "@example")).toEqual([
      "person bob@example.com",
      "person mia@example.com",
    ]);
    expect(await found(browsers.bob, "e")).toEqual([]);
    // What a pattern would mean is only text.
    expect(await found(browsers.ada, "b%a")).toEqual([]);
    // A model that was called just now is there, for whose team called it.
    expect(await found(browsers.mia, "ech")).toEqual(["model echo"]);
    // The whole name is there however many are longer.
    for (let n = 0; n < 9; n++)
      await gateway.admin("POST", "/people", { email: `zed${n || ""}@example.com` });
    expect(await found(browsers.ada, "zed")).toContain("person zed@example.com");
    expect((await browsers.ada.send("GET", "/admin/v1/search")).status).toBe(400);
  });
});

describe("budgets", () => {
  test("a manager of a team sees those of the team and the teams below, one without a team all", async () => {
    for (const team of ["alpha", "below", "beta"]) {
      await gateway.admin("PATCH", `/teams/${team}`, { budget_usd: "5", budget_period: "month" });
    }
    const seenBy = async (browser: Browser): Promise<string[]> => {
      const { data } = await (await browser.send("GET", "/admin/v1/budgets")).json();
      return data.map(({ name }: { name: string }) => name).sort();
    };
    expect(await seenBy(browsers.mia)).toEqual(["alpha", "below"]);
    expect(await seenBy(browsers.max)).toEqual(["alpha", "below", "beta"]);
  });
});

type Page = { data: { id: string; session: string }[] };
const sessionsSeenBy = async (browser: Browser, query = ""): Promise<string[]> => {
  const page: Page = await (await browser.send("GET", `/admin/v1/requests?limit=500${query}`)).json();
  return page.data.map(({ session }) => session).sort();
};

describe("records", () => {
  test("a member sees their own, a manager of a team the team's and those below, a manager without one all", async () => {
    const { alpha, below, beta } = sessions;
    expect(await sessionsSeenBy(browsers.bob)).toEqual([alpha]);
    expect(await sessionsSeenBy(browsers.eve)).toEqual([beta]);
    expect(await sessionsSeenBy(browsers.mia)).toEqual([alpha, below].sort());
    expect(await sessionsSeenBy(browsers.max)).toEqual([alpha, below, beta].sort());
  });

  test.each(["&team=beta", "&owner=eve@example.com", "&key=key of eve@example.com"])(
    "no filter leads out of the team: %p",
    async (filter) => {
      expect(await sessionsSeenBy(browsers.mia, filter)).toEqual([]);
      expect(await sessionsSeenBy(browsers.bob, filter)).toEqual([]);
    },
  );

  test("another's record does not exist by its id either", async () => {
    const [foreign] = await gateway.records(sessions.beta);
    const { data } = await gateway.admin<Page>("GET", `/requests?session=${sessions.beta}`);
    expect(foreign).toBeDefined();
    for (const name of ["mia", "bob"] as const) {
      expect((await browsers[name].send("GET", `/admin/v1/requests/${data[0]?.id}`)).status).toBe(404);
    }
    expect((await browsers.eve.send("GET", `/admin/v1/requests/${data[0]?.id}`)).status).toBe(200);
  });
});

const SPEC = {
  source: "requests",
  dimensions: ["key"],
  measures: ["requests"],
  filters: {},
  range: "7d",
  compare: "none",
  view: "table",
};
const query = (browser: Browser, spec: object, format = "json") =>
  browser.send("POST", `/v1/reports/query?format=${format}`, { spec: { ...SPEC, ...spec } });

describe("reports of a manager of a team", () => {
  test("carry the team as a filter and say so; those of others do not", async () => {
    const limited: Result & { scope?: unknown } = await (await query(browsers.mia, {})).json();
    expect(limited.scope).toEqual({ team: "alpha" });
    expect(limited.spec.filters).toEqual({ team: ["alpha"] });
    expect(limited.rows.map(({ groups }) => groups[0]).sort()).toEqual([
      "key of Bob@Example.com",
      "key of cid@example.com",
    ]);
    const all: Result & { scope?: unknown } = await (await query(browsers.max, {})).json();
    expect(all.scope).toBeNull();
    expect(all.total.current?.requests).toBe(3);
  });

  test("show nothing of another team by any source, dimension, filter or format", async () => {
    const dimensions = ["key", "team", "cost_center", "subject", "session", "model", "client", "day"];
    for (const dimension of dimensions) {
      for (const format of ["json", "csv"]) {
        const text = await (await query(browsers.mia, { dimensions: [dimension] }, format)).text();
        for (const foreign of ["eve@example.com", "beta", sessions.beta]) {
          expect([dimension, format, foreign, text.includes(foreign)]).toEqual([
            dimension,
            format,
            foreign,
            false,
          ]);
        }
      }
    }
    const below = await query(browsers.mia, { filters: { team: ["below"] } });
    expect((await below.json()).total.current.requests).toBe(1);
    const other = await query(browsers.mia, { filters: { team: ["beta"] } });
    const nobody = await query(browsers.mia, { filters: { team: ["no-such-team"] } });
    expect([other.status, nobody.status]).toEqual([403, 403]);
    const texts = [await other.json(), await nobody.json()].map(({ error }) => error.message);
    expect(texts[0]).toBe(texts[1]);
  });

  test("are limited in the whole payload and as a file, too", async () => {
    const payload = await (await browsers.mia.send("GET", "/v1/reports?range=7d")).text();
    expect(payload).toContain('"subscription"');
    for (const foreign of ["eve@example.com", "beta"]) expect(payload).not.toContain(foreign);
    const csv = await (await browsers.mia.send("GET", "/v1/reports?id=spend-by-person&format=csv")).text();
    expect(csv).not.toContain("eve@example.com");
  });

  test("exports and sign-ins are in the audit log under the person's name", async () => {
    await (await query(browsers.mia, {}, "csv")).text();
    const { data } = await gateway.admin<{ data: { action: string; request_id: string | null }[] }>(
      "GET",
      "/audit?actor=mia@example.com",
    );
    expect(data.map(({ action }) => action)).toContain("data.exported");
    expect(data.map(({ action }) => action)).toContain("sign_in");
    expect(data.filter(({ request_id }) => request_id === null)).toEqual([]);
  });
});

describe("saved reports", () => {
  const saved = { title: "Beta's secret", spec: { ...SPEC, filters: { team: ["beta"] } } };

  test("of an administrator or another team do not exist for a manager of a team", async () => {
    await gateway.admin("PUT", "/reports/of-beta", saved);
    expect((await browsers.mia.send("GET", "/admin/v1/reports/of-beta")).status).toBe(404);
    const list = await (await browsers.mia.send("GET", "/admin/v1/reports?limit=500")).text();
    expect(list).not.toContain("Beta's secret");
    const asked = await browsers.mia.send("GET", "/v1/reports?id=of-beta");
    expect([asked.status, (await asked.text()).includes("secret")]).toEqual([400, false]);
    const taken = await browsers.mia.send("PUT", "/admin/v1/reports/of-beta", { title: "Mine", spec: SPEC });
    expect([taken.status, (await taken.text()).includes("secret")]).toEqual([422, false]);
    expect((await browsers.max.send("GET", "/admin/v1/reports/of-beta")).status).toBe(200);
    const changed = await browsers.max.send("PATCH", "/admin/v1/reports/of-beta", { title: "Mine" });
    expect(changed.status).toBe(403);
  });

  test("of a manager are the manager's to change", async () => {
    const made = await browsers.mia.send("POST", "/admin/v1/reports", {
      id: "of-mia",
      title: "Mine",
      spec: SPEC,
    });
    expect(made.status).toBe(201);
    expect((await browsers.mia.send("PATCH", "/admin/v1/reports/of-mia", { title: "Ours" })).status).toBe(
      200,
    );
    expect((await browsers.mia.send("GET", "/v1/reports?id=of-mia")).status).toBe(200);
    expect((await browsers.mia.send("DELETE", "/admin/v1/reports/of-mia")).status).toBe(204);
  });
});

describe("admin tokens", () => {
  test("do what their role may, under their own name, until they expire or are revoked", async () => {
    type Token = { id: string; secret: string };
    const make = (name: string, more: object) => gateway.admin<Token>("POST", "/tokens", { name, ...more });
    const admin = await make("robot", { role: "administrator" });
    const manager = await make("reader", { role: "manager", team: "alpha" });
    const by = (secret: string) => ({ authorization: `Bearer ${secret}` });
    const settings = (secret: string) => fetch(`${gateway.url}/admin/v1/settings`, { headers: by(secret) });
    expect([(await settings(admin.secret)).status, (await settings(manager.secret)).status]).toEqual([
      200, 403,
    ]);
    const report = await fetch(`${gateway.url}/v1/reports/query`, {
      method: "POST",
      headers: { ...by(manager.secret), "content-type": "application/json" },
      body: JSON.stringify({ spec: SPEC }),
    });
    expect((await report.json()).scope).toEqual({ team: "alpha" });
    await fetch(`${gateway.url}/admin/v1/settings`, {
      method: "PATCH",
      headers: { ...by(admin.secret), "content-type": "application/json" },
      body: JSON.stringify({ hooks: true }),
    });
    const { data } = await gateway.admin<{ data: unknown[] }>("GET", "/audit?actor=robot");
    expect(data).toMatchObject([{ action: "settings.changed" }]);
    await gateway.admin("DELETE", `/tokens/${admin.id}`);
    expect((await settings(admin.secret)).status).toBe(401);
    await gateway.sql`update admin_tokens set expires_at = now() - interval '1 second' where name = 'reader'`;
    expect((await settings(manager.secret)).status).toBe(401);
  });
});

describe("own keys", () => {
  test("are made from the team's template, work, and are never another's", async () => {
    await gateway.admin("PATCH", "/teams/alpha", {
      key_template: { scopes: { routes: ["echo"] }, limits: { budget_usd: "5" } },
    });
    const made = await browsers.bob.send("POST", "/v1/me/keys", { name: "laptop" });
    const key = await made.json();
    expect([made.status, key.name, key.owner, key.own]).toEqual([201, "laptop", "bob@example.com", true]);
    expect(key.scopes).toEqual({ routes: ["echo"] });
    expect(key.limits).toEqual({ budget_usd: "5", budget_period: "month" });
    const own = await fetch(`${gateway.url}/v1/me`, { headers: { authorization: `Bearer ${key.secret}` } });
    expect([own.status, (await own.json()).email]).toEqual([200, "bob@example.com"]);
    const more = await fetch(`${gateway.url}/v1/me/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
      body: '{"name":"another"}',
    });
    expect(more.status).toBe(403);
    expect((await browsers.eve.send("DELETE", `/v1/me/keys/${key.id}`)).status).toBe(404);
    const rotated = await (await browsers.bob.send("POST", `/v1/me/keys/${key.id}/rotate`, {})).json();
    expect(rotated.secret).toMatch(/^tg_/);
    expect(rotated.secret).not.toBe(key.secret);
    expect((await browsers.bob.send("DELETE", `/v1/me/keys/${key.id}`)).status).toBe(204);
  });

  test("are at most ten", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      statuses.push((await browsers.mia.send("POST", "/v1/me/keys", { name: `key ${count}` })).status);
    }
    expect(statuses).toEqual([...Array(10).fill(201), 422]);
  });

  test("own usage is that of one's own calls", async () => {
    const usage: Result = await (await browsers.bob.send("GET", "/v1/me/usage?by=model&range=7d")).json();
    expect(usage.total.current?.requests).toBe(1);
    // A label of a call that another person's key made charges no one.
    const month = async () => (await (await browsers.bob.send("GET", "/v1/me")).json()).month.cost_usd;
    const before = await month();
    const labelled = await callAs("eve@example.com", "beta", "bob@example.com");
    await gateway.records(labelled);
    expect([await month(), Number(before) > 0]).toEqual([before, true]);
    const again: Result = await (await browsers.bob.send("GET", "/v1/me/usage?by=client&range=mtd")).json();
    expect(again.total.current?.requests).toBe(1);
    expect((await browsers.bob.send("GET", "/v1/me/usage?by=subject")).status).toBe(400);
  });
});
