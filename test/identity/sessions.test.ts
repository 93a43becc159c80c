import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { browserWith, byAdminKey, cookieIn, linkFor, redeem, signIn, tokenOf } from "./browser.ts";

const place = scratch();
let gateway: LocalGateway;
let other: LocalGateway;

beforeAll(async () => {
  gateway = await localGateway({ dataDir: `${place.path}/one` });
  other = await localGateway({ dataDir: `${place.path}/two`, databaseUrl: gateway.databaseUrl });
});

type Person = { id: string };
const person = (email: string, role: string) => gateway.admin<Person>("POST", "/people", { email, role });
const statusOf = async (url: string, cookie: string, path = "/v1/me") =>
  (await fetch(`${url}${path}`, { headers: { cookie } })).status;

describe("a session", () => {
  test("counts on every gateway of the database", async () => {
    const browser = await signIn(gateway, "two@example.com");
    expect(await statusOf(other.url, browser.cookie)).toBe(200);
  });

  test("has a new token after every sign-in, and one planted before it counts for nobody (fixation)", async () => {
    const planted = `tallygate_session=tgs_${"a".repeat(43)}.x`;
    const token = tokenOf(await linkFor(gateway, "fix@example.com"));
    const first = cookieIn(await redeem(gateway, { token }, { cookie: planted })) ?? "";
    expect(first).not.toBe(planted);
    expect(await statusOf(gateway.url, planted)).toBe(401);
    const again = tokenOf(await linkFor(gateway, "fix@example.com"));
    const second = cookieIn(await redeem(gateway, { token: again }, { cookie: first })) ?? "";
    expect(second).not.toBe(first);
    expect([await statusOf(gateway.url, first), await statusOf(gateway.url, second)]).toEqual([401, 200]);
  });

  test("ends with sign-out on every gateway: a stolen cookie is worth nothing then", async () => {
    const browser = await signIn(gateway, "out@example.com");
    const stolen = browser.cookie;
    expect((await browser.send("POST", "/auth/sign-out")).status).toBe(200);
    expect([await statusOf(gateway.url, stolen), await statusOf(other.url, stolen)]).toEqual([401, 401]);
    const { data } = await gateway.admin<{ data: { action: string; address: string }[] }>(
      "GET",
      "/audit?actor=out@example.com",
    );
    expect(data[0]).toMatchObject({ action: "sign_out", address: "127.0.0.1" });
  });

  test("can be ended by its person from another one, and by nobody else", async () => {
    const laptop = await signIn(gateway, "many@example.com");
    const phone = await signIn(gateway, "many@example.com");
    const stranger = await signIn(gateway, "stranger@example.com");
    const { data } = await (await phone.send("GET", "/v1/me/sessions")).json();
    expect(data).toHaveLength(2);
    const id = data.find(({ current }: { current: boolean }) => !current).id;
    expect((await stranger.send("DELETE", `/v1/me/sessions/${id}`)).status).toBe(404);
    expect((await phone.send("DELETE", `/v1/me/sessions/${id}`)).status).toBe(204);
    expect([await statusOf(other.url, laptop.cookie), await statusOf(other.url, phone.cookie)]).toEqual([
      401, 200,
    ]);
  });

  test("ends by idleness and seven days after its sign-in", async () => {
    await person("idle@example.com", "administrator");
    const browser = await signIn(gateway, "idle@example.com");
    const sql = testSql(gateway.databaseUrl);
    const ends = () => sql<{ minutes: number }[]>`
      select round(extract(epoch from s.expires_at - now()) / 60)::int as minutes
      from person_sessions s join people p on p.id = s.person_id where p.email = 'idle@example.com'`;
    expect((await ends())[0]?.minutes).toBe(30);
    await sql`update person_sessions set expires_at = now() + interval '5 minutes',
      created_at = now() - interval '6 days 23 hours 50 minutes'
      where person_id = (select id from people where email = 'idle@example.com')`;
    expect(await statusOf(gateway.url, browser.cookie)).toBe(200);
    expect((await ends())[0]?.minutes).toBe(10);
    await sql`update person_sessions set expires_at = now() - interval '1 second'
      where person_id = (select id from people where email = 'idle@example.com')`;
    expect(await statusOf(gateway.url, browser.cookie)).toBe(401);
  });
});

describe("a change by cookie", () => {
  test.each([
    ["another site", "http://evil.test"],
    ["a sandboxed page", "null"],
    ["another port of the host", "http://127.0.0.1:1"],
    ["another scheme", "ftp://127.0.0.1"],
  ])("from %s is refused", async (_, origin) => {
    const browser = await signIn(gateway, "csrf@example.com");
    const answer = await browser.send("POST", "/v1/me/keys", { name: "x" }, { origin });
    expect([answer.status, (await answer.json()).error.code]).toEqual([403, "foreign_origin"]);
    expect((await browser.send("POST", "/auth/sign-out", undefined, { origin })).status).toBe(403);
    expect(await statusOf(gateway.url, browser.cookie)).toBe(200);
  });

  test("without an origin is refused", async () => {
    const { cookie } = await signIn(gateway, "csrf@example.com");
    const headers = { cookie, "content-type": "application/json" };
    const answer = await fetch(`${gateway.url}/v1/me/keys`, {
      method: "POST",
      headers,
      body: '{"name":"x"}',
    });
    expect(answer.status).toBe(403);
  });

  test("is judged by the key alone where a request carries one", async () => {
    await person("both@example.com", "administrator");
    const { cookie } = await signIn(gateway, "both@example.com");
    const ask = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/admin/v1/settings`, { headers: { cookie, ...headers } }).then(
        ({ status }) => status,
      );
    expect(await ask({})).toBe(200);
    expect(await ask({ authorization: "Bearer wrong" })).toBe(401);
    expect(await ask({ "x-api-key": "wrong" })).toBe(401);
    expect(await ask(byAdminKey)).toBe(200);
    // An empty header is none.
    expect(await ask({ authorization: "", "x-api-key": " " })).toBe(200);
  });
});

describe("a change of role in mid-session", () => {
  test("counts with the next request, and the session gets another token", async () => {
    const { id } = await person("up@example.com", "member");
    const browser = await signIn(gateway, "up@example.com");
    const old = browser.cookie;
    expect((await browser.send("GET", "/admin/v1/settings")).status).toBe(403);
    await gateway.admin("PATCH", `/people/${id}`, { role: "administrator" });
    expect((await browser.send("GET", "/admin/v1/settings")).status).toBe(200);
    expect(browser.cookie).not.toBe(old);
    // A request that was under way has the rights of both roles for a moment, and no token outlives it.
    expect(await statusOf(other.url, old, "/admin/v1/settings")).toBe(403);
    expect(await statusOf(other.url, browser.cookie, "/admin/v1/settings")).toBe(200);
    const sql = testSql(gateway.databaseUrl);
    await sql`update person_sessions set rotated_at = rotated_at - interval '31 seconds' where person_id = ${id}`;
    expect(await statusOf(other.url, old)).toBe(401);
    await gateway.admin("PATCH", `/people/${id}`, { role: "member" });
    expect(await statusOf(other.url, browser.cookie, "/admin/v1/settings")).toBe(403);
  });

  test("reaches the browser with a refusal, too", async () => {
    const { id } = await person("down@example.com", "administrator");
    const browser = await signIn(gateway, "down@example.com");
    const old = browser.cookie;
    await gateway.admin("PATCH", `/people/${id}`, { role: "member" });
    expect((await browser.send("GET", "/admin/v1/settings")).status).toBe(403);
    expect(browser.cookie).not.toBe(old);
    expect(await statusOf(gateway.url, browser.cookie)).toBe(200);
  });
});

describe("a disabled person", () => {
  test("is out on every gateway: sessions at once, keys within five seconds, and no link lets them in", async () => {
    const { id } = await person("gone@example.com", "member");
    const browser = await signIn(gateway, "gone@example.com");
    const { secret } = await (await browser.send("POST", "/v1/me/keys", { name: "laptop" })).json();
    const byKey = async () => {
      const headers = { authorization: `Bearer ${secret}` };
      return (await fetch(`${other.url}/v1/models`, { headers })).status;
    };
    expect(await byKey()).toBe(200);
    const link = await linkFor(gateway, "gone@example.com");
    await gateway.admin("DELETE", `/people/${id}`);
    expect([await statusOf(gateway.url, browser.cookie), await statusOf(other.url, browser.cookie)]).toEqual([
      401, 401,
    ]);
    await until(async () => (await byKey()) === 401);
    expect((await redeem(gateway, { token: tokenOf(link) })).status).toBe(401);
    await expect(linkFor(gateway, "gone@example.com")).rejects.toThrow("422");
    await expect(gateway.admin("POST", "/keys", { name: "late", owner: "Gone@example.com" })).rejects.toThrow(
      "422",
    );
  });

  test("gets no key by a request that was under way", async () => {
    const { id } = await person("racing@example.com", "member");
    const browser = await signIn(gateway, "racing@example.com");
    const sql = testSql(gateway.databaseUrl);
    let answer: Promise<Response> | undefined;
    await sql.begin(async (tx) => {
      // As the request that disables them holds it.
      await tx`select from directory_versions for update`;
      await tx`update people set disabled = true where id = ${id}`;
      answer = browser.send("POST", "/v1/me/keys", { name: "late" });
      await until(async () => {
        const [waiting] = await tx`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting !== undefined;
      });
    });
    expect((await answer)?.status).toBe(422);
  });

  test("has no token or session of before once they are let in again, however late it came", async () => {
    const { id } = await person("again@example.com", "administrator");
    const browser = await signIn(gateway, "again@example.com");
    const made = await browser.send("POST", "/admin/v1/tokens", { name: "late", role: "administrator" });
    const { secret } = await made.json();
    // What was under way when they were disabled is there still.
    await testSql(gateway.databaseUrl)`update people set disabled = true where id = ${id}`;
    await gateway.admin("PATCH", `/people/${id}`, { disabled: false });
    const byToken = await fetch(`${gateway.url}/admin/v1/settings`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect([byToken.status, await statusOf(gateway.url, browser.cookie)]).toEqual([401, 401]);
  });

  test("loses keys that name them in other letters, outside ASCII too", async () => {
    const { id } = await person("änn@example.com", "member");
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", {
      name: "of änn",
      owner: "ÄNN@Example.com",
    });
    const status = async () =>
      (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;
    expect(await status()).toBe(200);
    await gateway.admin("DELETE", `/people/${id}`);
    expect(await status()).toBe(401);
  });
});

test("with an https PUBLIC_URL the cookie is bound to the host and to TLS", async () => {
  const secure = await localGateway({
    dataDir: `${place.path}/three`,
    databaseUrl: gateway.databaseUrl,
    env: { PUBLIC_URL: "https://llm.example.com" },
  });
  const link = await linkFor(secure, "tls@example.com");
  expect(link).toStartWith("https://llm.example.com/sign-in?token=tgl_");
  const origin = "https://llm.example.com";
  const answer = await redeem(secure, { token: tokenOf(link) }, { origin });
  const [cookie = ""] = answer.headers.getSetCookie();
  expect(cookie).toStartWith("__Host-tallygate_session=");
  for (const attribute of ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"])
    expect(cookie).toContain(attribute);
  expect(cookie).not.toContain("Domain");
  const browser = browserWith(secure.url, cookie.split(";")[0] ?? "");
  expect((await browser.send("POST", "/v1/me/keys", { name: "x" }, { origin })).status).toBe(201);
  const plain = await browser.send(
    "POST",
    "/v1/me/keys",
    { name: "y" },
    { origin: "http://llm.example.com" },
  );
  expect(plain.status).toBe(403);
});
