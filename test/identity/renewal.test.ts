import { beforeAll, describe, expect, test } from "bun:test";
import { personAccounts } from "#gateway/limits/account-ids.ts";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { type Browser, signIn } from "./browser.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const place = scratch();
let gateway: LocalGateway;
let other: LocalGateway;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/one` });
  other = await localGateway({ dataDir: `${place.path}/two`, databaseUrl: gateway.databaseUrl });
});

type Tokens = { access_token: string; refresh_token: string; expires_in: number };

type Issued = Tokens & { token_type: string; email: string };

const post = (path: string, fields: Record<string, string>, at = gateway) =>
  fetch(`${at.url}${path}`, { method: "POST", body: new URLSearchParams(fields) });

/** Signs Claude Code in for a person. */
async function signedIn(person: Browser, at = gateway): Promise<Issued> {
  const codes = await (await post("/oauth/device_authorization", { surface: "claude_code" }, at)).json();
  expect((await person.send("POST", `/v1/me/devices/${codes.user_code}`, { approve: true })).status).toBe(
    204,
  );
  const answer = await post("/oauth/token", { grant_type: GRANT, device_code: codes.device_code }, at);
  expect(answer.status).toBe(200);
  return await answer.json();
}

const refresh = (token: string, at = gateway) =>
  post("/oauth/token", { grant_type: "refresh_token", refresh_token: token }, at);
async function renewed(token: string, at = gateway): Promise<Tokens> {
  const answer = await refresh(token, at);
  expect(answer.status).toBe(200);
  return await answer.json();
}
const refused = async (token: string) => {
  const answer = await refresh(token);
  return [answer.status, (await answer.json()).error];
};
const INVALID_GRANT = [401, "invalid_grant"];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const models = (token: string, at = gateway) => fetch(`${at.url}/v1/models`, { headers: bearer(token) });
const usable = async (token: string, at = gateway) => (await models(token, at)).status === 200;
const personOf = async (email: string) =>
  (await gateway.admin<{ data: { id: string }[] }>("GET", `/people?email=${email}`)).data[0]?.id;

describe("Claude Code's bearer", () => {
  test("is renewed on any gateway, with another refresh token each time, and the former one lasts to its end", async () => {
    const ada = await signIn(gateway, "ada@example.com");
    const first = await signedIn(ada);
    expect(first).toEqual({
      access_token: expect.stringMatching(/^tg_/),
      token_type: "Bearer",
      email: "ada@example.com",
      refresh_token: expect.stringMatching(/^tgn_[0-9A-Za-z]{43}$/),
      expires_in: 28_800,
    });
    const second = await renewed(first.refresh_token, other);
    const third = await renewed(second.refresh_token);
    expect(new Set([first, second, third].map((it) => it.access_token)).size).toBe(3);
    for (const { access_token: token } of [first, second, third]) {
      await until(async () => (await usable(token)) && (await usable(token, other)));
    }
    const { keys } = await (await ada.send("GET", "/v1/me")).json();
    expect(keys).toHaveLength(1);
    const sql = testSql(gateway.databaseUrl);
    for (const table of ["keys", "key_secrets", "refresh_tokens", "audit_entries"]) {
      const rows = JSON.stringify(await sql`select * from ${sql(table)}`);
      for (const it of [first, second, third]) {
        expect([table, rows.includes(it.access_token), rows.includes(it.refresh_token)]).toEqual([
          table,
          false,
          false,
        ]);
      }
    }
  });

  test("is refused after its end, and a renewed one is not", async () => {
    const it = await signedIn(await signIn(gateway, "bob@example.com"));
    const sql = testSql(gateway.databaseUrl);
    await sql`update key_secrets set expires_at = now() - interval '1 second' where last_four = ${it.access_token.slice(-4)}`;
    // A renewal makes every gateway read the keys again.
    const next = await renewed(it.refresh_token);
    await until(async () => !(await usable(it.access_token)));
    expect(await usable(next.access_token)).toBe(true);
  });

  test("is renewed by several processes at once, and a late second use of a refresh token ends the sign-in", async () => {
    const it = await signedIn(await signIn(gateway, "carol@example.com"));
    const both = await Promise.all([renewed(it.refresh_token), renewed(it.refresh_token, other)]);
    for (const { access_token: token } of both) await until(() => usable(token));
    await renewed(both[1].refresh_token);
    const sql = testSql(gateway.databaseUrl);
    await sql`update refresh_tokens set used_at = used_at - interval '3 minutes' where used_at is not null`;
    expect(await refused(it.refresh_token)).toEqual(INVALID_GRANT);
    expect(await refused(both[0].refresh_token)).toEqual(INVALID_GRANT);
    for (const { access_token: token } of both) expect(await usable(token)).toBe(false);
    const { data } = await gateway.admin<{ data: { action: string; actor: string }[] }>(
      "GET",
      "/audit?action=key.revoked",
    );
    expect(data[0]).toMatchObject({ action: "key.revoked", actor: "carol@example.com" });
  });

  test("and its renewal end at once when its person is disabled", async () => {
    const it = await signedIn(await signIn(gateway, "dora@example.com"));
    await gateway.admin("DELETE", `/people/${await personOf("dora@example.com")}`);
    expect(await refused(it.refresh_token)).toEqual(INVALID_GRANT);
    const answer = await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: "POST",
      headers: bearer(it.access_token),
      body: "{}",
    });
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([401, "false"]);
    expect(await answer.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
    await until(async () => !(await usable(it.access_token, other)));
  });

  test.each(["access_token", "refresh_token"] as const)("is revoked by presenting the %s", async (which) => {
    const it = await signedIn(await signIn(gateway, `eve-${which}@example.com`));
    expect((await post("/oauth/revoke", { token: it[which] })).status).toBe(200);
    expect(await usable(it.access_token)).toBe(false);
    expect(await refused(it.refresh_token)).toEqual(INVALID_GRANT);
  });

  test("extends its sign-in to 30 days whenever it is renewed", async () => {
    const ida = await signIn(gateway, "ida@example.com");
    const first = await signedIn(ida);
    const sql = testSql(gateway.databaseUrl);
    await sql`update refresh_tokens set key_expires_at = now() + interval '1 day'
      where key_id = (select id from keys where owner = 'ida@example.com')`;
    await sql`update keys set expires_at = (select key_expires_at from refresh_tokens where key_id = keys.id)
      where owner = 'ida@example.com'`;
    await renewed(first.refresh_token);
    const { keys } = await (await ida.send("GET", "/v1/me")).json();
    expect(Date.parse(keys[0].expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  });

  test("is not extended past the end that an administrator sets, and rotating its key ends the renewal", async () => {
    const finn = await signIn(gateway, "finn@example.com");
    const it = await signedIn(finn);
    const { keys } = await (await finn.send("GET", "/v1/me")).json();
    const end = new Date(Date.now() + 3_600_000).toISOString();
    await gateway.admin("PATCH", `/keys/${keys[0].id}`, { expires_at: end });
    const next = await renewed(it.refresh_token);
    await renewed(next.refresh_token);
    const me = await (await finn.send("GET", "/v1/me")).json();
    expect(me.keys.map((key: { expires_at: string }) => key.expires_at)).toEqual([end]);
    const again = await renewed(next.refresh_token);
    await gateway.admin("POST", `/keys/${keys[0].id}/rotate`, {});
    expect(await refused(again.refresh_token)).toEqual(INVALID_GRANT);
  });

  test("opens no address of administrators, and makes no key", async () => {
    const gail = await signIn(gateway, "gail@example.com");
    await gateway.admin("PATCH", `/people/${await personOf("gail@example.com")}`, { role: "administrator" });
    const { access_token: token } = await signedIn(gail);
    for (const path of ["/admin/v1/keys", "/admin/v1/people", "/admin/v1/audit"]) {
      expect((await fetch(`${gateway.url}${path}`, { headers: bearer(token) })).status).toBe(401);
    }
    const made = await fetch(`${gateway.url}/v1/me/keys`, {
      method: "POST",
      headers: { ...bearer(token), "content-type": "application/json" },
      body: JSON.stringify({ name: "more" }),
    });
    expect(made.status).toBe(403);
  });

  test("gets 400 for a model outside its scope, and any other key 403", async () => {
    await gateway.admin("PUT", "/teams/narrow", { key_template: { scopes: { models: ["none"] } } });
    await gateway.admin("POST", "/people", { email: "hal@example.com", team: "narrow" });
    const hal = await signIn(gateway, "hal@example.com");
    const { access_token: token } = await signedIn(hal);
    const { secret } = await (await hal.send("POST", "/v1/me/keys", { name: "other" })).json();
    const call = async (key: string) => {
      const answer = await fetch(`${gateway.url}/v1/messages?beta=true`, {
        method: "POST",
        headers: { ...bearer(key), "content-type": "application/json" },
        body: JSON.stringify({ model: "echo", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
      });
      return [answer.status, (await answer.json()).error.type];
    };
    expect(await call(token)).toEqual([400, "invalid_request_error"]);
    expect(await call(secret)).toEqual([403, "permission_error"]);
  });
});

describe("a budget", () => {
  const usage = async (token: string) => {
    const answer = await fetch(`${gateway.url}/api/oauth/usage`, { headers: bearer(token) });
    return answer.status === 200 ? await answer.json() : answer.status;
  };
  const call = (key: string) =>
    fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "application/json" },
      body: JSON.stringify({ model: "echo", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
    });

  test("that is used up is the protocol's 429 for Claude Code's bearer, and 402 for any other key", async () => {
    await gateway.admin("PUT", "/teams/poor", { budget_usd: "0", budget_period: "day" });
    await gateway.admin("POST", "/people", { email: "jan@example.com", team: "poor" });
    const jan = await signIn(gateway, "jan@example.com");
    const { access_token: token } = await signedIn(jan);
    const { secret } = await (await jan.send("POST", "/v1/me/keys", { name: "other" })).json();
    const refusal = await call(token);
    expect(await refusal.json()).toMatchObject({
      type: "error",
      error: {
        type: "billing_error",
        message: expect.stringContaining('the team "poor" (0 USD a day) is used up'),
      },
    });
    const midnight = new Date(refusal.headers.get("date") ?? "").setUTCHours(24, 0, 0, 0) / 1000;
    expect([refusal.status, Object.fromEntries(refusal.headers)]).toEqual([
      429,
      expect.objectContaining({
        "x-should-retry": "false",
        "retry-after": expect.stringMatching(/^[1-9]\d{0,4}$/),
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": String(midnight),
        "anthropic-ratelimit-unified-overage-reset": String(midnight),
        "anthropic-ratelimit-unified-overage-utilization": "1",
        "anthropic-ratelimit-unified-overage-surpassed-threshold": "1",
        "anthropic-ratelimit-unified-overage-period": "daily",
        "anthropic-ratelimit-unified-overage-disabled-reason": "org_spend_cap_reached",
      }),
    ]);
    const elsewhere = await call(secret);
    expect([elsewhere.status, elsewhere.headers.get("anthropic-ratelimit-unified-status")]).toEqual([
      402,
      null,
    ]);
  });

  test("is shown with what is used of it, the fullest first; without any there is nothing to show", async () => {
    const { access_token: free } = await signedIn(await signIn(gateway, "kim@example.com"));
    expect(await usage(free)).toBe(404);
    await gateway.admin("PUT", "/teams/rich", {
      budget_usd: "1000",
      key_template: { limits: { budget_usd: "10", budget_period: "day" } },
    });
    await gateway.admin("POST", "/people", { email: "lea@example.com", team: "rich" });
    const lea = await signIn(gateway, "lea@example.com");
    const { access_token: token } = await signedIn(lea);
    const sql = testSql(gateway.databaseUrl);
    const { id: account } = personAccounts("lea@example.com");
    await sql`insert into key_spend (key_id, day, usd) values (${account}, (now() at time zone 'utc')::date, 8.019)`;
    const now = new Date();
    const resets = (month: number, day: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), month, day)).toISOString();
    // An answer says the same, so that Claude Code warns by itself.
    const answered = await call(token);
    const midnight = new Date(answered.headers.get("date") ?? "").setUTCHours(24, 0, 0, 0) / 1000;
    const limits = (of: Headers) =>
      Object.fromEntries([...of].filter(([name]) => name.startsWith("anthropic-ratelimit-")));
    expect([answered.status, limits(answered.headers)]).toEqual([
      200,
      {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-representative-claim": "overage",
        "anthropic-ratelimit-unified-reset": String(midnight),
        "anthropic-ratelimit-unified-overage-status": "allowed_warning",
        "anthropic-ratelimit-unified-overage-reset": String(midnight),
        "anthropic-ratelimit-unified-overage-utilization": "0.801",
        "anthropic-ratelimit-unified-overage-surpassed-threshold": "0.75",
      },
    ]);
    expect(limits((await call(free)).headers)).toEqual({});
    expect(await usage(token)).toEqual({
      extra_usage: {
        is_enabled: true,
        monthly_limit: 1000,
        used_credits: 801,
        utilization: 80,
        currency: "USD",
      },
      limits: [
        {
          kind: "spend",
          group: "daily",
          percent: 80,
          resets_at: resets(now.getUTCMonth(), now.getUTCDate() + 1),
          severity: "warning",
          is_active: true,
        },
        {
          kind: "spend",
          group: "monthly",
          percent: 0,
          resets_at: resets(now.getUTCMonth() + 1, 1),
          severity: "normal",
          is_active: false,
        },
      ],
    });
  });
});

describe("a refresh", () => {
  test.each([
    ["no token", {}, [400, "invalid_request"]],
    ["an unknown token", { refresh_token: `tgn_${"a".repeat(43)}` }, INVALID_GRANT],
    ["a client key", { refresh_token: `tg_${"a".repeat(43)}` }, INVALID_GRANT],
  ])("with %s is refused", async (_, fields, expected) => {
    const answer = await post("/oauth/token", { grant_type: "refresh_token", ...fields });
    expect([answer.status, (await answer.json()).error]).toEqual(expected);
  });

  test("with an unknown token makes no gateway read the keys again", async () => {
    const sql = testSql(gateway.databaseUrl);
    const version = async () => (await sql`select version from directory_versions`)[0]?.["version"];
    const before = await version();
    expect(await refused(`tgn_${"b".repeat(43)}`)).toEqual(INVALID_GRANT);
    expect(await version()).toBe(before);
  });
});
