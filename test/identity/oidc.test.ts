import { beforeAll, describe, expect, test } from "bun:test";
import { scratch } from "#test/support/embedded.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { linkFor, redeem, tokenOf } from "./browser.ts";
import { type HostileIssuer, hostileIssuer, type Signing } from "./hostile-issuer.ts";
import { CLIENT, type TestIssuer, testIssuer } from "./oidc-provider.ts";
import { isCallback, isPage, PUBLIC_URL, type TravellingBrowser, travellingBrowser } from "./redirects.ts";

const CALLBACK = `${PUBLIC_URL}/auth/callback/oidc`;

const place = scratch();
let issuer: TestIssuer;
let gateway: LocalGateway;

const settings = (at: { url: string }) => ({
  PUBLIC_URL,
  OIDC_ISSUER: at.url,
  OIDC_CLIENT_ID: CLIENT.id,
  OIDC_CLIENT_SECRET: CLIENT.secret,
});

beforeAll(async () => {
  issuer = await testIssuer([CALLBACK]);
  gateway = await localGateway({ dataDir: `${place.path}/one`, env: settings(issuer) });
});

const browserOf = (at = gateway) => travellingBrowser(at.url);

/** Signs `sub` in at the issuer, from the start at the gateway until the browser is about to come back. */
async function untilBack(browser: TravellingBrowser, sub: string, next = "/"): Promise<string> {
  const start = `${PUBLIC_URL}/auth/sign-in/oidc?${new URLSearchParams({ next })}`;
  const login = await browser.visit(start, undefined, isPage);
  if (isPage(new URL(login.url))) return login.url;
  const consent = await submit(browser, login, { prompt: "login", login: sub, password: "any" });
  return (await submit(browser, consent, { prompt: "consent" })).url;
}

async function submit(
  browser: TravellingBrowser,
  page: { url: string; text: string },
  form: Record<string, string>,
) {
  const [, action = ""] = /<form[^>]*action="([^"]+)"/.exec(page.text) ?? [];
  return await browser.visit(new URL(action, page.url).href, form, isCallback);
}

/** The page of the gateway at which a sign-in ends. */
async function pageAfter(browser: TravellingBrowser, sub: string, next = "/"): Promise<URL> {
  const back = await untilBack(browser, sub, next);
  return new URL((await browser.visit(back, undefined, isPage)).url);
}

type Me = { email: string; role: string; team: string | null };
const me = async (browser: TravellingBrowser, at = gateway): Promise<Me | null> => {
  const answer = await fetch(`${at.url}/v1/me`, { headers: { cookie: browser.cookie() } });
  return answer.status === 200 ? await answer.json() : null;
};

type Entry = { action: string; actor: string; subject: string; after: Record<string, unknown> | null };
const audit = async (query: string) =>
  (await gateway.admin<{ data: Entry[] }>("GET", `/audit?${query}`)).data;

function person(sub: string, claims: object = {}): string {
  const email = `${sub}@example.com`;
  issuer.people.set(sub, { email, email_verified: true, name: `Name of ${sub}`, groups: [], ...claims });
  return email;
}

describe("sign-in at an OpenID Connect issuer", () => {
  test("makes a member of whoever is new, ends at the page asked for, and is in the audit log", async () => {
    const email = person("ada");
    const browser = browserOf();
    const page = await pageAfter(browser, "ada", "/reports?range=7d");
    expect(page.href).toBe(`${PUBLIC_URL}/reports?range=7d`);
    expect(await me(browser)).toMatchObject({ email, role: "member", team: null });
    const entries = await audit(`actor=${email}`);
    expect(entries.map(({ action, after }) => [action, after?.["way"] ?? null])).toEqual([
      ["sign_in", "oidc"],
      ["person.created", null],
    ]);
    expect(entries[1]?.after).toMatchObject({ name: "Name of ada", role: "member" });
  });

  test("keeps no token of the issuer, and none is in the log", async () => {
    person("tok");
    await pageAfter(browserOf(), "tok");
    const rows = await testSql(gateway.databaseUrl)`
      select access_token, refresh_token, id_token from sign_in_accounts where account_id = 'tok'`;
    expect([...rows]).toEqual([{ access_token: null, refresh_token: null, id_token: null }]);
    expect(gateway.log()).not.toContain(CLIENT.secret);
  });

  test("belongs to the account there: with another e-mail it is the same person", async () => {
    const email = person("bea");
    await pageAfter(browserOf(), "bea");
    issuer.people.set("bea", { email: "beatrice@example.com", email_verified: true });
    const browser = browserOf();
    await pageAfter(browser, "bea");
    expect(await me(browser)).toMatchObject({ email });
  });

  test("is of a person whom an administrator added, whatever the case of the e-mail", async () => {
    await gateway.admin("POST", "/people", { email: "cid@example.com", role: "manager" });
    person("cid", { email: "CID@Example.com" });
    const browser = browserOf();
    await pageAfter(browser, "cid");
    expect(await me(browser)).toMatchObject({ email: "cid@example.com", role: "manager" });
  });

  test("replaces a session that the browser had, and one that was planted counts for nobody", async () => {
    person("fix");
    const browser = browserOf();
    browser.setCookie("tallygate_session", `tgs_${"a".repeat(43)}.x`);
    await pageAfter(browser, "fix");
    const first = browser.cookie();
    expect(first).not.toContain("a".repeat(43));
    await pageAfter(browser, "fix");
    const old = await fetch(`${gateway.url}/v1/me`, { headers: { cookie: first } });
    expect([old.status, (await me(browser))?.email]).toEqual([401, "fix@example.com"]);
  });

  test.each([
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test/",
    "/.//evil.test/",
    "/\t/evil.test/",
    "javascript:alert(1)",
  ])("never ends at another site: %p", async (next) => {
    person("nex");
    expect((await pageAfter(browserOf(), "nex", next)).href).toBe(`${PUBLIC_URL}/`);
  });
});

describe("groups", () => {
  beforeAll(async () => {
    await gateway.admin("PUT", "/teams/search", {});
    await gateway.admin("PUT", "/teams/ads", {});
    await gateway.admin("POST", "/role-mappings", { group: "leads", role: "manager", team: "search" });
    await gateway.admin("POST", "/role-mappings", { group: "staff", role: "member", team: "ads" });
    await gateway.admin("POST", "/role-mappings", { group: "admins", role: "administrator" });
  });

  test("are read by their group, which may be a path", async () => {
    const [group, path] = ["/llm/leads", "/role-mappings/%2Fllm%2Fleads"];
    const mapping = await gateway.admin<object>("POST", "/role-mappings", { group, role: "member" });
    expect(await gateway.admin<object>("GET", path)).toEqual(mapping);
    await gateway.admin("DELETE", path);
    await expect(gateway.admin("GET", path)).rejects.toThrow("404");
  });

  test("give the highest role of the mappings that match, and its team", async () => {
    person("dan", { groups: ["staff", "unknown", "leads"] });
    const browser = browserOf();
    await pageAfter(browser, "dan");
    expect(await me(browser)).toMatchObject({ role: "manager", team: "search" });
  });

  test("count at each sign-in; what a mapping gave ends with the group, and what an administrator set returns", async () => {
    await gateway.admin("POST", "/people", { email: "eva@example.com", role: "member", team: "ads" });
    person("eva", { groups: ["staff"] });
    const browser = browserOf();
    await pageAfter(browser, "eva");
    expect(await me(browser)).toMatchObject({ role: "member", team: "ads" });
    person("eva", { groups: ["admins", "staff"] });
    await pageAfter(browser, "eva");
    expect(await me(browser)).toMatchObject({ role: "administrator", team: "ads" });
    person("eva", { groups: ["leads"] });
    await pageAfter(browser, "eva");
    expect(await me(browser)).toMatchObject({ role: "manager", team: "search" });
    person("eva", { groups: undefined });
    await pageAfter(browser, "eva");
    expect(await me(browser)).toMatchObject({ role: "member", team: "ads" });
    const changes = await audit("actor=eva@example.com&action=person.changed");
    expect(changes.map(({ after }) => after?.["role"])).toEqual(["member", "manager", "administrator"]);
  });

  test("do not outlast what an administrator sets, before or after", async () => {
    person("fay", { groups: ["leads"] });
    const browser = browserOf();
    await pageAfter(browser, "fay");
    const { data } = await gateway.admin<{ data: { id: string }[] }>("GET", "/people?email=fay@example.com");
    await gateway.admin("PATCH", `/people/${data[0]?.id}`, { role: "administrator", team: null });
    expect(await me(browser)).toMatchObject({ role: "administrator", team: null });
    await pageAfter(browser, "fay");
    expect(await me(browser)).toMatchObject({ role: "manager", team: "search" });
    person("fay", { groups: [] });
    await pageAfter(browser, "fay");
    expect(await me(browser)).toMatchObject({ role: "administrator", team: null });
  });
});

describe("a sign-in fails with its reason, an audit entry and no session", () => {
  const failed = async (sub: string, browser = browserOf()) => {
    const page = await pageAfter(browser, sub, "/me");
    const [entry] = await audit("action=sign_in.failed");
    return { page, entry, session: await me(browser) };
  };

  test.each([
    ["email_unverified", "unv", { email_verified: false }],
    ["email_unverified", "unk", { email_verified: undefined }],
    ["email_missing", "mis", { email: undefined }],
    ["email_missing", "bad", { email: "not an address" }],
  ])("%s (%s)", async (reason, sub, claims) => {
    const email = person(sub, claims);
    const { page, entry, session } = await failed(sub);
    expect(page.href).toBe(`${PUBLIC_URL}/sign-in?error=${reason}&next=%2Fme`);
    const actor = reason === "email_unverified" ? email : "unknown";
    expect(entry).toMatchObject({ actor, subject: "oidc", after: { cause: reason } });
    expect(session).toBeNull();
  });

  test("person_disabled", async () => {
    const email = person("dis");
    const { id } = await gateway.admin<{ id: string }>("POST", "/people", { email });
    await gateway.admin("DELETE", `/people/${id}`);
    const { page, entry, session } = await failed("dis");
    expect(page.searchParams.get("error")).toBe("person_disabled");
    expect(entry).toMatchObject({ actor: email, after: { cause: "person_disabled" } });
    expect(session).toBeNull();
  });

  test("denied: the person cancels at the issuer", async () => {
    const browser = browserOf();
    const login = await browser.visit(`${PUBLIC_URL}/auth/sign-in/oidc`, undefined, isPage);
    const [, abort = ""] = /href="([^"]+\/abort)"/.exec(login.text) ?? [];
    const page = await browser.visit(new URL(abort, login.url).href, undefined, isPage);
    expect(new URL(page.url).searchParams.get("error")).toBe("denied");
  });

  const tampered: [string, string, (back: URL) => void][] = [
    ["another state", "state_mismatch", (back) => back.searchParams.set("state", "a".repeat(32))],
    ["no state", "state_mismatch", (back) => back.searchParams.delete("state")],
    ["another code", "invalid_answer", (back) => back.searchParams.set("code", "forged")],
    ["another issuer", "invalid_answer", (back) => back.searchParams.set("iss", "http://evil.test")],
  ];
  test.each(tampered)("%s: %s", async (_, reason, tamper) => {
    person("tam");
    const browser = browserOf();
    const back = new URL(await untilBack(browser, "tam"));
    tamper(back);
    const page = await browser.visit(back.href, undefined, isPage);
    expect(new URL(page.url).searchParams.get("error")).toBe(reason);
    expect(await me(browser)).toBeNull();
  });

  test("in another browser than it was started in, or a second time", async () => {
    person("csr");
    const attacker = browserOf();
    const back = await untilBack(attacker, "csr");
    const victim = browserOf();
    expect((await victim.visit(back, undefined, isPage)).url).toContain("error=state_mismatch");
    expect(await me(victim)).toBeNull();
    expect((await attacker.visit(back, undefined, isPage)).url).toBe(`${PUBLIC_URL}/`);
    expect((await attacker.visit(back, undefined, isPage)).url).toContain("error=state_mismatch");
  });

  test("the tenth within a minute is answered 429, and a right one still signs in", async () => {
    const slow = await localGateway({
      dataDir: `${place.path}/slow`,
      env: { ...settings(issuer), REFUSALS_PER_MINUTE: "3" },
    });
    const forged = `${PUBLIC_URL}/auth/callback/oidc?state=${"a".repeat(32)}&code=x`;
    const statuses: number[] = [];
    for (let guess = 0; guess < 4; guess++) {
      statuses.push((await travellingBrowser(slow.url).visit(forged, undefined, isPage)).status);
    }
    expect(statuses).toEqual([0, 0, 429, 429]);
    person("sla");
    const browser = travellingBrowser(slow.url);
    await pageAfter(browser, "sla");
    expect((await me(browser, slow))?.email).toBe("sla@example.com");
  });
});

describe("an id token", () => {
  const now = () => Math.floor(Date.now() / 1000);
  const right = (nonce: string, at: string) => ({
    ...{ iss: at, sub: "hos", aud: CLIENT.id, nonce, iat: now(), exp: now() + 60 },
    ...{ email: "hos@example.com", email_verified: true, groups: [] },
  });
  const cases: [string, boolean, (nonce: string, at: string) => { claims: object; as?: Signing }][] = [
    ["as it should be", true, (nonce, at) => ({ claims: right(nonce, at) })],
    ["of another sign-in", false, (_, at) => ({ claims: right("another", at) })],
    ["without a nonce", false, (nonce, at) => ({ claims: { ...right(nonce, at), nonce: undefined } })],
    ["for another client", false, (nonce, at) => ({ claims: { ...right(nonce, at), aud: "another" } })],
    [
      "for this client, asked for by it",
      true,
      (nonce, at) => ({ claims: { ...right(nonce, at), aud: [CLIENT.id, "another"], azp: CLIENT.id } }),
    ],
    ["asked for by another", false, (nonce, at) => ({ claims: { ...right(nonce, at), azp: "another" } })],
    [
      "for several, asked for by who knows",
      false,
      (nonce, at) => ({ claims: { ...right(nonce, at), aud: [CLIENT.id, "another"] } }),
    ],
    [
      "of another issuer",
      false,
      (nonce, at) => ({ claims: { ...right(nonce, at), iss: "http://evil.test" } }),
    ],
    ["that is over", false, (nonce, at) => ({ claims: { ...right(nonce, at), exp: now() - 3600 } })],
    ["without an end", false, (nonce, at) => ({ claims: { ...right(nonce, at), exp: undefined } })],
    ["by another key", false, (nonce, at) => ({ claims: right(nonce, at), as: "another key" })],
    ["without a signature", false, (nonce, at) => ({ claims: right(nonce, at), as: "unsigned" })],
    [
      "signed by the client secret",
      false,
      (nonce, at) => ({ claims: right(nonce, at), as: "client secret" }),
    ],
  ];
  let at: HostileIssuer;
  let started: LocalGateway;
  beforeAll(async () => {
    at = await hostileIssuer(CLIENT.secret);
    started = await localGateway({ dataDir: `${place.path}/hostile`, env: settings(at) });
  });
  test.each(cases)("%s signs in: %p", async (_, counts, make) => {
    const browser = travellingBrowser(started.url);
    const leaving = await browser.visit(
      `${PUBLIC_URL}/auth/sign-in/oidc`,
      undefined,
      (url) => url.origin === at.url,
    );
    const asked = new URL(leaving.url).searchParams;
    expect([asked.get("code_challenge_method"), asked.get("response_type")]).toEqual(["S256", "code"]);
    at.next = make(asked.get("nonce") ?? "", at.url);
    const back = `${CALLBACK}?${new URLSearchParams({ state: asked.get("state") ?? "", code: "any" })}`;
    const page = await browser.visit(back, undefined, isPage);
    expect(new URL(page.url).searchParams.get("error")).toBe(counts ? null : "invalid_answer");
    expect((await me(browser, started)) !== null).toBe(counts);
  });
});

describe("an issuer that is away", () => {
  test("does not keep the gateway from starting, nor links from signing in; it is asked again", async () => {
    const late = await testIssuer([CALLBACK]);
    await late.stop();
    const started = await localGateway({ dataDir: `${place.path}/late`, env: settings(late) });
    const token = tokenOf(await linkFor(started, "link@example.com"));
    expect((await redeem(started, { token }, { origin: PUBLIC_URL })).status).toBe(200);
    late.people.set("lat", { email: "lat@example.com", email_verified: true });
    const browser = travellingBrowser(started.url);
    expect((await pageAfter(browser, "lat")).searchParams.get("error")).toBe("unavailable");
    await late.start();
    await pageAfter(browser, "lat");
    expect((await me(browser, started))?.email).toBe("lat@example.com");
    const another = travellingBrowser(started.url);
    const back = await untilBack(another, "lat");
    await late.stop();
    expect((await another.visit(back, undefined, isPage)).url).toContain("error=unavailable");
  });
});
