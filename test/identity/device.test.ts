import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { type Browser, browserWith, signIn } from "./browser.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const place = scratch();
let gateway: LocalGateway;
let other: LocalGateway;
let ada: Browser;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/one` });
  other = await localGateway({ dataDir: `${place.path}/two`, databaseUrl: gateway.databaseUrl });
  ada = await signIn(gateway, "ada@example.com");
});

type Codes = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
};

const post = (path: string, fields: Record<string, string>, at = gateway) =>
  fetch(`${at.url}${path}`, { method: "POST", redirect: "manual", body: new URLSearchParams(fields) });

async function begin(
  fields: Record<string, string> = { surface: "tallygate" },
  at = gateway,
): Promise<Codes> {
  const answer = await post("/oauth/device_authorization", fields, at);
  expect(answer.status).toBe(200);
  return await answer.json();
}

const poll = (deviceCode: string, at = gateway) =>
  post("/oauth/token", { grant_type: GRANT, device_code: deviceCode }, at);
const outcome = async (asked: Promise<Response>) => {
  const answer = await asked;
  return [answer.status, (await answer.json()).error];
};
const decide = (browser: Browser, code: string, approve: boolean, headers = {}) =>
  browser.send("POST", `/v1/me/devices/${code}`, { approve }, headers);
const modelsBy = async (secret: string, at = gateway) =>
  (await fetch(`${at.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;

describe("discovery", () => {
  test("names both endpoints at the origin that was asked, without a credential", async () => {
    const answer = await fetch(`${gateway.url}/.well-known/oauth-authorization-server`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      issuer: gateway.url,
      device_authorization_endpoint: `${gateway.url}/oauth/device_authorization`,
      token_endpoint: `${gateway.url}/oauth/token`,
      grant_types_supported: expect.arrayContaining([GRANT]),
      token_endpoint_auth_methods_supported: ["none"],
      gateway_protocol_version: 1,
    });
  });
});

describe("device authorization", () => {
  test.each([
    ["as Claude Code sends it", { surface: "claude_code" }],
    ["with unknown fields", { surface: "x", scope: "openid", client_id: "abc" }],
    ["with nothing", {}],
  ])("%s is answered with six members that nothing may keep", async (_, fields) => {
    const answer = await post("/oauth/device_authorization", fields);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const codes: Codes = await answer.json();
    expect(codes.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(codes.device_code).toMatch(/^tgd_[0-9A-Za-z]{43}$/);
    expect(codes).toMatchObject({
      verification_uri: `${gateway.url}/device`,
      verification_uri_complete: `${gateway.url}/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  test("of one address stops at a hundred unfinished ones", async () => {
    const crowded = await localGateway({ dataDir: `${place.path}/crowded` });
    for (let count = 0; count < 100; count++) await begin({}, crowded);
    const refused = await post("/oauth/device_authorization", {}, crowded);
    expect([refused.status, (await refused.json()).error]).toEqual([429, "slow_down"]);
    const sql = testSql(crowded.databaseUrl);
    await sql`update device_sign_ins set expires_at = now() - interval '1 second'`;
    await begin({}, crowded);
    expect(await sql`select id from device_sign_ins`).toHaveLength(1);
  });
});

describe("a device that polls", () => {
  test("waits, gets one key after its approval, and nothing more for the same code", async () => {
    const codes = await begin({ surface: "tallygate", device_name: "ada's laptop" });
    expect(await outcome(poll(codes.device_code))).toEqual([400, "authorization_pending"]);
    expect(await outcome(poll(codes.device_code))).toEqual([429, "slow_down"]);
    expect((await decide(ada, codes.user_code.toLowerCase().replace("-", ""), true)).status).toBe(204);
    const answers = await Promise.all([gateway, other, gateway].map((at) => poll(codes.device_code, at)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const issued = await answers.find(({ status }) => status === 200)?.json();
    expect(issued).toEqual({
      access_token: expect.stringMatching(/^tg_/),
      token_type: "Bearer",
      email: "ada@example.com",
    });
    expect(await outcome(poll(codes.device_code))).toEqual([400, "expired_token"]);
    await until(async () => (await modelsBy(issued.access_token, other)) === 200);
    const { keys } = await (await ada.send("GET", "/v1/me")).json();
    expect(keys.map(({ name }: { name: string }) => name)).toContain("ada's laptop");
  });

  test("is told of a refusal and of its end", async () => {
    const refused = await begin();
    expect((await decide(ada, refused.user_code, false)).status).toBe(204);
    expect(await outcome(poll(refused.device_code))).toEqual([400, "access_denied"]);
    expect((await decide(ada, refused.user_code, true)).status).toBe(404);
    const late = await begin();
    const sql = testSql(gateway.databaseUrl);
    await sql`update device_sign_ins set expires_at = now() - interval '1 second' where state = 'pending'`;
    expect((await decide(ada, late.user_code, true)).status).toBe(404);
    expect(await outcome(poll(late.device_code))).toEqual([400, "expired_token"]);
  });

  test.each([
    ["no grant", { device_code: "x" }, "invalid_request"],
    ["no code", { grant_type: GRANT }, "invalid_request"],
    ["another grant", { grant_type: "password", device_code: "x" }, "unsupported_grant_type"],
    ["an unknown code", { grant_type: GRANT, device_code: "x" }, "expired_token"],
    ["a wrong code", { grant_type: GRANT, device_code: `tgd_${"a".repeat(43)}` }, "expired_token"],
  ])("with %s is refused", async (_, fields, error) => {
    expect(await outcome(post("/oauth/token", fields))).toEqual([400, error]);
  });

  test("with JSON, or with a field twice, is refused", async () => {
    const { device_code } = await begin();
    for (const [type, body] of [
      ["application/json", JSON.stringify({ grant_type: GRANT, device_code })],
      ["application/x-www-form-urlencoded", `grant_type=${GRANT}&device_code=${device_code}&device_code=x`],
    ] as const) {
      const answer = fetch(`${gateway.url}/oauth/token`, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
      expect(await outcome(answer)).toEqual([400, "invalid_request"]);
    }
  });

  test("gets nothing once its person is disabled or has ten keys", async () => {
    const bob = await signIn(gateway, "bob@example.com");
    const first = await begin();
    expect((await decide(bob, first.user_code, true)).status).toBe(204);
    for (let count = 0; count < 10; count++) await bob.send("POST", "/v1/me/keys", { name: `key ${count}` });
    expect(await outcome(poll(first.device_code))).toEqual([400, "access_denied"]);
    const second = await begin();
    expect((await decide(bob, second.user_code, true)).status).toBe(422);
    const { keys } = await (await bob.send("GET", "/v1/me")).json();
    await bob.send("DELETE", `/v1/me/keys/${keys[0].id}`);
    const [person] = (await gateway.admin<{ data: { id: string }[] }>("GET", "/people?email=bob@example.com"))
      .data;
    await gateway.admin("DELETE", `/people/${person?.id}`);
    expect(await outcome(poll(first.device_code))).toEqual([400, "access_denied"]);
  });
});

describe("an approval", () => {
  test("takes a signed-in person and a POST from the gateway's own page: nothing else approves", async () => {
    const codes = await begin();
    const path = `/v1/me/devices/${codes.user_code}`;
    await (await ada.send("GET", path)).json();
    await (await ada.send("GET", `/device?user_code=${codes.user_code}`)).text();
    expect((await decide(ada, codes.user_code, true, { origin: "http://evil.test" })).status).toBe(403);
    expect((await decide(browserWith(gateway.url, ""), codes.user_code, true)).status).toBe(401);
    const { secret } = await (await ada.send("POST", "/v1/me/keys", { name: "other" })).json();
    expect((await decide(ada, codes.user_code, true, { authorization: `Bearer ${secret}` })).status).toBe(
      403,
    );
    expect(await outcome(poll(codes.device_code))).toEqual([400, "authorization_pending"]);
  });

  test("shows what the device says of itself, and leaves out what would mislead", async () => {
    const shown = async (name: string) => {
      const { user_code } = await begin({ surface: "claude_code", device_name: name });
      return await (await ada.send("GET", `/v1/me/devices/${user_code}`)).json();
    };
    expect(await shown("laptop")).toMatchObject({ program: "claude_code", device_name: "laptop" });
    for (const name of ["a\u202eb", "a\nb", "x".repeat(61)]) {
      expect((await shown(name)).device_name).toBeNull();
    }
  });

  test("is refused to whoever has guessed, even with the right code, and to nobody else", async () => {
    const codes = await begin();
    const guesser = await signIn(gateway, "guesser@example.com");
    const statuses = new Set<number>();
    for (let guess = 0; guess < 40; guess++) statuses.add((await decide(guesser, "BCDF-GHJK", true)).status);
    expect([...statuses]).toEqual([404, 429]);
    const right = await decide(guesser, codes.user_code, true);
    expect([right.status, Number(right.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await guesser.send("GET", `/v1/me/devices/${codes.user_code}`)).status).toBe(429);
    expect((await decide(ada, codes.user_code, true)).status).toBe(204);
  });

  test("and a refusal are in the audit log, and no code or key is anywhere", async () => {
    const eve = await signIn(gateway, "eve@example.com");
    const yes = await begin({ device_name: "box" });
    const no = await begin();
    await decide(eve, yes.user_code, true);
    await decide(eve, no.user_code, false);
    const { access_token: secret } = await (await poll(yes.device_code)).json();
    const { data } = await gateway.admin<{ data: { action: string; address: string }[] }>(
      "GET",
      "/audit?actor=eve@example.com",
    );
    expect(data.map(({ action }) => action)).toEqual([
      "key.created",
      "device.denied",
      "device.approved",
      "sign_in",
      "person.created",
    ]);
    const sql = testSql(gateway.databaseUrl);
    for (const table of ["device_sign_ins", "audit_entries", "keys", "key_secrets"]) {
      const rows = JSON.stringify(await sql`select * from ${sql(table)}`);
      for (const code of [yes.device_code, no.device_code, yes.user_code, no.user_code, secret]) {
        expect([table, rows.includes(code)]).toEqual([table, false]);
        expect(gateway.log()).not.toContain(code);
      }
    }
  });

  test("is guessed at slowly: wrong codes count per address, and a right one still works", async () => {
    const strict = await localGateway({
      dataDir: `${place.path}/strict`,
      databaseUrl: gateway.databaseUrl,
      env: { REFUSALS_PER_MINUTE: "10" },
    });
    const carol = await signIn(strict, "carol@example.com");
    const codes = await begin({}, strict);
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess++) {
      statuses.push((await carol.send("GET", "/v1/me/devices/BBBB-BBBB")).status);
    }
    expect(statuses).toEqual([...Array(9).fill(404), 429, 429]);
    expect(await outcome(poll("tgd_wrong", strict))).toEqual([429, "slow_down"]);
    expect((await decide(carol, codes.user_code, true)).status).toBe(204);
    const metrics = await fetch(`${strict.url}/metrics`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    const text = await metrics.text();
    expect(text).toContain('tallygate_refused_credentials_total{kind="user_code"} 11');
    expect(text).toContain('tallygate_refused_credentials_total{kind="device_code"} 1');
  });
});

describe("the key of a device", () => {
  test("has the team's template and a name of its own, and ends when it is presented for revocation", async () => {
    await gateway.admin("PUT", "/teams/alpha", { key_template: { scopes: { routes: ["echo"] } } });
    await gateway.admin("POST", "/people", { email: "dora@example.com", team: "alpha" });
    const dora = await signIn(gateway, "dora@example.com");
    const secrets: string[] = [];
    for (let device = 0; device < 2; device++) {
      const codes = await begin({ device_name: "laptop" });
      await decide(dora, codes.user_code, true);
      secrets.push((await (await poll(codes.device_code)).json()).access_token);
    }
    const listed = async () => (await (await dora.send("GET", "/v1/me/keys")).json()).data;
    expect(await listed()).toMatchObject([
      { name: "laptop 2", scopes: { routes: ["echo"] } },
      { name: "laptop", scopes: { routes: ["echo"] } },
    ]);
    for (const token of [secrets[0] ?? "", secrets[0] ?? "", "tg_unknown"]) {
      expect((await post("/oauth/revoke", { token })).status).toBe(200);
    }
    expect((await post("/oauth/revoke", {})).status).toBe(400);
    expect(await modelsBy(secrets[0] ?? "")).toBe(401);
    expect(await modelsBy(secrets[1] ?? "")).toBe(200);
    expect(await listed()).toHaveLength(1);
  });

  test("of nobody is not revoked by presenting it", async () => {
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ci" });
    expect((await post("/oauth/revoke", { token: secret })).status).toBe(200);
    expect(await modelsBy(secret)).toBe(200);
  });
});
