import { beforeAll, describe, expect, test } from "bun:test";
import { newId } from "#shared/ids.ts";
import { testSql } from "#test/support/postgres.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { type Browser, signIn } from "./browser.ts";

// Each address, with the id of each thing of another team's person, by each kind of asker who is no administrator.

const REPOSITORY = 4711;
const SESSION = "task-of-ann";
const NOWHERE = "http://127.0.0.1:9";
let gateway: WiredGateway;

type Ask = (method: string, path: string, body?: object) => Promise<Response>;
const askers = {} as Record<"member" | "manager" | "client key" | "token" | "token of pull requests", Ask>;
/** What ann of the team alpha has, by its ids. */
const foreign: Record<string, string> = {};
let operations: [method: string, path: string][] = [];

const byBrowser =
  (browser: Browser): Ask =>
  (method, path, body) =>
    browser.send(method, path, body);
const bySecret =
  (secret: string): Ask =>
  (method, path, body) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });

type Made = { id: string; secret: string };
const made = (path: string, body: object) => gateway.admin<Made>("POST", path, body);

beforeAll(async () => {
  gateway = await wiredGateway({ chat: NOWHERE, messages: NOWHERE });
  for (const team of ["alpha", "gamma"]) await gateway.admin("PUT", `/teams/${team}`, { budget_usd: "9" });
  const facts = { github_login: "ann-at-github", budget_usd: "5" };
  const ann = await made("/people", { email: "ann@example.com", team: "alpha", ...facts });
  const key = await made("/keys", { name: "key of ann", owner: "ann@example.com" });
  const call = { model: "echo", messages: [{ role: "user", content: "hi" }] };
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key.secret}`,
      "content-type": "application/json",
      "x-session-id": SESSION,
    },
    body: JSON.stringify(call),
  });
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  await gateway.records(SESSION);
  const sql = testSql(gateway.databaseUrl);
  await sql`insert into repositories (id, full_name, former_names, changed_at, is_private)
    values (${REPOSITORY}, 'acme/secret', '[]', now(), true)`;
  await sql`
    insert into pull_requests (repository_id, number, state, opened_at, merged_at, link, session, session_ids,
      reverts_by_body, reverts_by_sha, evidence, author_login)
    values (${REPOSITORY}, 1, 'merged', now(), now(), 'joined', ${SESSION}, array[${SESSION}], '[]', array[]::text[],
      '[]', 'ann-at-github')`;
  const account = newId();
  await sql`insert into sign_in_accounts (id, person_id, provider_id, issuer, account_id, created_at, updated_at)
    values (${account}, ${ann.id}, 'oidc', 'issuer.test', 'ann-there', now(), now())`;
  const browser = await signIn(gateway, "ann@example.com");
  const me = await (await browser.send("GET", "/v1/me")).json();
  const [record] = await sql`select id from requests where session = ${SESSION}`;
  const spec = { source: "requests", dimensions: [], measures: ["requests"], filters: {}, range: "7d" };
  await gateway.admin("PUT", "/reports/of-alpha", {
    title: "ann@example.com's",
    spec: { ...spec, compare: "none", view: "table" },
  });
  Object.assign(foreign, {
    ...{ person: ann.id, key: key.id, account, report: "of-alpha", team: "alpha" },
    ...{ session: me.sessions[0].id, record: record?.["id"], pull: `${REPOSITORY}-1` },
  });

  for (const [name, role] of [
    ["zoe", "member"],
    ["mia", "manager"],
  ] as const) {
    await gateway.admin("POST", "/people", { email: `${name}@example.com`, role, team: "gamma" });
    askers[role] = byBrowser(await signIn(gateway, `${name}@example.com`));
  }
  askers["client key"] = bySecret(
    (await made("/keys", { name: "key of zoe", owner: "zoe@example.com" })).secret,
  );
  askers.token = bySecret((await made("/tokens", { name: "gamma", role: "manager", team: "gamma" })).secret);
  const scopes = { name: "pulls", scopes: ["pull_requests"], team: "gamma" };
  askers["token of pull requests"] = bySecret((await made("/tokens", scopes)).secret);

  const document: { paths: Record<string, object> } = await (
    await fetch(`${gateway.url}/openapi/json`)
  ).json();
  operations = Object.entries(document.paths)
    .filter(([path]) => /^\/(?:admin\/v1|v1\/me|v1\/reports)\b/.test(path) && !path.endsWith("schema.json"))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method): [string, string] => [method.toUpperCase(), path]),
    );
});

const bodyOf = (method: string) => (["POST", "PUT", "PATCH"].includes(method) ? {} : undefined);

describe.each(["member", "manager", "client key", "token", "token of pull requests"] as const)(
  "a %s",
  (name) => {
    test("reaches nothing of another team by any address and any id", async () => {
      expect(Object.keys(foreign)).toHaveLength(8);
      let asked = 0;
      for (const [method, path] of operations.filter(([, path]) => path.includes("{"))) {
        // Of what it may create under any name, nothing is another's.
        if (method === "PUT") continue;
        for (const [kind, id] of Object.entries(foreign)) {
          const address = path.replaceAll(/\{\w+\}/g, id);
          const answer = await askers[name](method, address, bodyOf(method));
          const text = await answer.text();
          expect([method, path, kind, answer.status >= 400 && answer.status < 500]).toEqual([
            method,
            path,
            kind,
            true,
          ]);
          for (const secret of ["ann@example.com", "ann-there", SESSION]) {
            expect([method, path, kind, text.includes(secret)]).toEqual([method, path, kind, false]);
          }
          asked += 1;
        }
      }
      expect(asked).toBeGreaterThan(150);
    });

    test("finds nothing of another team in any list", async () => {
      for (const [method, path] of operations) {
        if (method !== "GET" || path.includes("{")) continue;
        const text = await (await askers[name](method, path)).text();
        for (const secret of ["ann@example.com", "ann-there", SESSION, "acme/secret", "ann-at-github"]) {
          expect([path, secret, text.includes(secret)]).toEqual([path, secret, false]);
        }
      }
    });
  },
);
