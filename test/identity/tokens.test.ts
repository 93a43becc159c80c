import { beforeAll, describe, expect, test } from "bun:test";
import { TOKEN_SCOPES, type TokenScope } from "#shared/admin/tokens.ts";
import { newId } from "#shared/ids.ts";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { startFastGithubApp } from "#test/support/github-app-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { type Browser, signIn } from "./browser.ts";

const DAY_MS = 86_400_000;
const place = scratch();
let gateway: LocalGateway;
let ada: Browser;

type Token = { id: string; secret: string; maker: string | null; expires_at: string };
const make = (name: string, more: object) => gateway.admin<Token>("POST", "/tokens", { name, ...more });
const ask = (secret: string, path: string, method = "GET", body?: object) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/gateway` });
  await gateway.admin("PUT", "/teams/alpha", {});
  await gateway.admin("POST", "/people", { email: "ada@example.com", role: "administrator" });
  ada = await signIn(gateway, "ada@example.com");
});

const PULL_REQUESTS = ["", "/dearest", "/{id}"].map((path) => `GET /admin/v1/pull-requests${path}`);

/** What each scope opens of the addresses of people; everything else is refused. */
const OPENS: Record<TokenScope, readonly string[]> = {
  metrics: ["GET /metrics"],
  reports: [
    ...["GET /v1/reports", "GET /v1/reports/catalogue", "POST /v1/reports", "POST /v1/reports/query"],
    "POST /v1/reports/overview",
    ...PULL_REQUESTS,
  ],
  pull_requests: PULL_REQUESTS,
};

describe("a token with scopes", () => {
  test("opens what they name, at every address of people, with a foreign id, and nothing else", async () => {
    const document: { paths: Record<string, object> } = await (
      await fetch(`${gateway.url}/openapi/json`)
    ).json();
    const operations = Object.entries(document.paths)
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .filter((name) => /^\w+ (?:\/admin\/v1\/|\/v1\/me\b|\/v1\/reports\b|\/scim\/|\/metrics$)/.test(name))
      .filter((name) => !name.endsWith("schema.json"));
    expect(operations.length).toBeGreaterThan(90);
    for (const scope of TOKEN_SCOPES) {
      const { secret } = await make(`only ${scope}`.replace(" ", "-"), { scopes: [scope] });
      for (const operation of operations) {
        const [method = "", path = ""] = operation.split(" ");
        const body = ["POST", "PUT", "PATCH"].includes(method) ? {} : undefined;
        const answer = await ask(secret, path.replaceAll(/\{\w+\}/g, newId()), method, body);
        expect([scope, operation, answer.status === 403]).toEqual([
          scope,
          operation,
          !OPENS[scope].includes(operation),
        ]);
        expect([operation, answer.status]).not.toEqual([operation, 401]);
        await answer.text();
      }
    }
  });

  test("has either scopes or a role, and a repository only for pull requests alone", async () => {
    for (const body of [
      {},
      { role: "manager", scopes: ["reports"] },
      { scopes: [] },
      { scopes: ["everything"] },
      { scopes: ["reports", "reports"] },
      { scopes: ["reports"], repository: "octo/shop" },
      { role: "manager", repository: "octo/shop" },
    ]) {
      await expect(make("wrong", body)).rejects.toThrow("400");
    }
  });

  test("has a team only where the team limits it", async () => {
    for (const role of ["administrator", "member"]) {
      await expect(make("wrong", { role, team: "search" })).rejects.toThrow("/team: Expected only with");
    }
  });

  test("reads the metrics of the GitHub App on the same database, and no other scope does", async () => {
    const { databaseUrl: DATABASE_URL } = gateway;
    const app = await startFastGithubApp({
      DATABASE_URL,
      WEBHOOK_SECRET: "a secret of more than sixteen characters",
    });
    const statuses: number[] = [];
    for (const scope of TOKEN_SCOPES) {
      const { secret } = await make(`app-${scope}`, { scopes: [scope] });
      const headers = { authorization: `Bearer ${secret}` };
      statuses.push((await fetch(`${app.url}/metrics`, { headers })).status);
    }
    expect(statuses).toEqual([200, 401, 401]);
  });

  test("reads pull requests of its repository alone", async () => {
    const sql = testSql(gateway.databaseUrl);
    for (const [id, name] of [
      [1, "Octo/Shop"],
      [2, "octo/other"],
    ] as const) {
      await sql`insert into repositories (id, full_name, former_names, changed_at)
        values (${id}, ${name}, '[]', now())`;
      await sql`insert into pull_requests (repository_id, number, state, opened_at, link, session_ids, reverts_by_body,
        reverts_by_sha, evidence) values (${id}, 7, 'open', now(), 'open', array[]::text[], '[]', array[]::text[], '[]')`;
    }
    const { secret } = await make("shop", { scopes: ["pull_requests"], repository: "octo/shop" });
    const list = async (query: string): Promise<(string | null)[]> =>
      (await (await ask(secret, `/admin/v1/pull-requests${query}`)).json()).data.map(
        ({ repository }: { repository: string | null }) => repository,
      );
    expect(await list("")).toEqual(["Octo/Shop"]);
    expect(await list("?repository=Octo/Shop")).toEqual(["Octo/Shop"]);
    expect(await list("?repository=octo/other")).toEqual([]);
    expect((await ask(secret, "/admin/v1/pull-requests/1-7")).status).toBe(200);
    expect((await ask(secret, "/admin/v1/pull-requests/2-7")).status).toBe(404);
  });
});

describe("a token", () => {
  test("lasts 90 days unless it says otherwise, and 366 at most", async () => {
    const { expires_at: end } = await make("quarter", { role: "member" });
    expect((Date.parse(end) - Date.now()) / DAY_MS).toBeCloseTo(90, 1);
    const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    await make("year", { role: "member", expires_at: at(365.9) });
    await expect(make("longer", { role: "member", expires_at: at(366.1) })).rejects.toThrow("400");
    await expect(make("over", { role: "member", expires_at: at(-1) })).rejects.toThrow("400");
  });

  test("carries its maker, works only while they are an administrator, and ends when they are disabled", async () => {
    await gateway.admin("POST", "/people", { email: "max@example.com", role: "administrator" });
    const max = await signIn(gateway, "max@example.com");
    const robot: Token = await (
      await max.send("POST", "/v1/../admin/v1/tokens", { name: "robot", role: "administrator" })
    ).json();
    const child: Token = await (
      await ask(robot.secret, "/admin/v1/tokens", "POST", { name: "child", scopes: ["metrics"] })
    ).json();
    const ofKey = await make("of-key", { role: "administrator" });
    expect([robot.maker, child.maker, ofKey.maker]).toEqual([
      "max@example.com",
      "max@example.com",
      "admin key",
    ]);
    const status = async () => [
      (await ask(robot.secret, "/admin/v1/settings")).status,
      (await ask(child.secret, "/metrics")).status,
      (await ask(ofKey.secret, "/admin/v1/settings")).status,
    ];
    expect(await status()).toEqual([200, 200, 200]);
    const { data } = await gateway.admin<{ data: { id: string }[] }>("GET", "/people?email=max@example.com");
    const path = `/people/${data[0]?.id}`;
    await gateway.admin("PATCH", path, { role: "manager" });
    expect(await status()).toEqual([401, 401, 200]);
    await gateway.admin("PATCH", path, { role: "administrator" });
    expect(await status()).toEqual([200, 200, 200]);
    await gateway.admin("DELETE", path);
    await gateway.admin("PATCH", path, { disabled: false });
    expect(await status()).toEqual([401, 401, 200]);
    const audit = await gateway.admin<{ data: { subject: string }[] }>("GET", "/audit?action=token.revoked");
    expect(audit.data.map(({ subject }) => subject).sort()).toEqual(["child", "robot"]);
  });

  test("without a team reads no e-mail of anybody, as JSON or as CSV; an administrator's does", async () => {
    const limits = { budget_usd: "5" };
    const key = { name: "laptop (eve@example.com)", owner: "Eve@Example.com", team: "alpha", limits };
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", key);
    const called = await ask(secret, "/v1/chat/completions", "POST", {
      model: "echo",
      user: "Eve@Example.com",
      messages: [{ role: "user", content: "hello" }],
    });
    expect(called.status).toBe(200);
    await called.text();
    const spec = { source: "requests", dimensions: ["subject", "key"], measures: ["requests"], filters: {} };
    const asked = { spec: { ...spec, range: "7d", compare: "none", view: "table" } };
    const answers = async (by: string) => [
      await (await ask(by, "/v1/reports/query", "POST", asked)).text(),
      await (await ask(by, "/v1/reports/query?format=csv", "POST", asked)).text(),
      await (await ask(by, "/v1/reports?range=7d")).text(),
      await (await ask(by, "/admin/v1/requests")).text(),
    ];
    const shown = await answers((await make("robot-2", { role: "administrator" })).secret);
    for (const text of shown) expect(text.toLowerCase()).toContain("eve@example.com");
    const manager = await make("manager", { role: "manager" });
    const reports = await make("reports", { scopes: ["reports"] });
    for (const { secret: by } of [manager, reports]) {
      for (const text of await answers(by)) expect(text.toLowerCase()).not.toContain("eve@example.com");
    }
    const [json = ""] = await answers(manager.secret);
    expect(json).toMatch(/"person-[0-9a-f]{12}"/);
    const metrics = async (by: string) => await (await ask(by, "/metrics")).text();
    await until(async () => (await metrics(ADMIN_KEY)).includes("laptop (eve@example.com)"));
    const { secret: prometheus } = await make("prometheus", { scopes: ["metrics"], team: "alpha" });
    expect(await metrics(prometheus)).toMatch(/laptop \(person-[0-9a-f]{12}\)/);
    expect(await metrics(prometheus)).not.toContain("eve@example.com");
    const ofTeam = await make("of-alpha", { scopes: ["reports"], team: "alpha" });
    expect((await answers(ofTeam.secret))[0]?.toLowerCase()).toContain("eve@example.com");
  });

  test("is read by its id without its secret, and gone once it is revoked", async () => {
    const { secret: _, ...token } = await make("read-alone", { role: "member" });
    expect(await gateway.admin<object>("GET", `/tokens/${token.id}`)).toEqual(token);
    await gateway.admin("DELETE", `/tokens/${token.id}`);
    for (const id of [token.id, newId(), "no-id"])
      expect((await ask(ADMIN_KEY, `/admin/v1/tokens/${id}`)).status).toBe(404);
  });

  test("of an earlier version has no maker, and works until its date", async () => {
    const { secret } = await make("old", { role: "administrator" });
    await testSql(gateway.databaseUrl)`update admin_tokens set maker = null where name = 'old'`;
    expect((await ask(secret, "/admin/v1/settings")).status).toBe(200);
  });
});

test("the forecast of a team is for a team that exists", async () => {
  await gateway.admin("PUT", "/teams/forecasted", {});
  expect(await gateway.admin("GET", "/forecast?team=forecasted")).toMatchObject({ spent_usd: "0.00" });
  await expect(gateway.admin("GET", "/forecast?team=nobody")).rejects.toThrow("404");
});

describe("a key with service: true", () => {
  test("reads nothing of its owner's own, and can be made and changed so", async () => {
    const body = { name: "ci", owner: "ada@example.com", service: true };
    const made = await gateway.admin<Token & { service: boolean }>("POST", "/keys", body);
    expect(made.service).toBe(true);
    for (const path of ["/v1/me", "/v1/me/usage", "/v1/me/keys", "/v1/me/sessions"]) {
      expect([path, (await ask(made.secret, path)).status]).toEqual([path, 403]);
    }
    expect((await ask(made.secret, "/v1/models")).status).toBe(200);
    await gateway.admin("PATCH", `/keys/${made.id}`, { service: false });
    expect((await ask(made.secret, "/v1/me")).status).toBe(200);
    expect((await ada.send("GET", "/v1/me")).status).toBe(200);
  });
});
