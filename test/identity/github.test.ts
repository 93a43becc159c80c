import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { createCredentials } from "#github-app/github/credentials.ts";
import { systemClock } from "#shared/clock.ts";
import { createLog } from "#shared/log.ts";
import { githubAppKey } from "#shared/master-key.ts";
import { atEnd } from "#test/support/at-end.ts";
import { scratch } from "#test/support/embedded.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { GithubPerson } from "#test/support/fake-github/sign-in-pages.ts";
import type { Account } from "#test/support/fake-github/world.ts";
import { MASTER_KEY } from "#test/support/gateway-process.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { testSql } from "#test/support/postgres.ts";
import { isPage, PUBLIC_URL, type TravellingBrowser, travellingBrowser } from "./redirects.ts";

const HERE: Account = { id: 501, login: "octo-here", type: "Organization" };
const LEFT: Account = { id: 502, login: "octo-left", type: "Organization" };
const OTHER: Account = { id: 503, login: "octo-other", type: "Organization" };

const place = scratch();
let github: FakeGithub;
let gateway: LocalGateway;
let lastId = 9000;

beforeAll(async () => {
  github = startFakeGithub();
  github.signIn.callbackUrls.push(`${PUBLIC_URL}/auth/callback/github`);
  gateway = await localGateway({
    dataDir: `${place.path}/one`,
    env: {
      PUBLIC_URL,
      GITHUB_CLIENT_ID: github.app.clientId,
      GITHUB_CLIENT_SECRET: github.app.clientSecret,
      GHE_HOST: github.host,
      GHE_PROTOCOL: "http",
    },
  });
  await install(HERE, "active");
  await install(LEFT, "removed");
});
beforeEach(() => {
  github.signIn.isDown = false;
});

const install = ({ id, login }: Account, state: string) => testSql(gateway.databaseUrl)`
  insert into installations (org_id, id, account_login, account_id, state, changed_at, permissions)
  values ('default', ${id}, ${login}, ${id}, ${state}, now(), '{"metadata": "read"}')`;

/** Somebody whom GitHub would let in, apart from what is given. */
function somebody(login: string, given: Partial<GithubPerson> = {}): GithubPerson {
  return {
    account: { id: ++lastId, login, type: "User" },
    name: `Name of ${login}`,
    emails: [
      { email: `${login}@private.example.com`, primary: false, verified: true },
      { email: `${login}@example.com`, primary: true, verified: true },
    ],
    memberships: [{ organization: HERE, state: "active" }],
    ...given,
  };
}

async function pageAfter(browser: TravellingBrowser, person: GithubPerson | null): Promise<URL> {
  github.signIn.person = person;
  return new URL((await browser.visit(`${PUBLIC_URL}/auth/sign-in/github?next=/me`, undefined, isPage)).url);
}

type Me = { email: string; role: string };
const me = async (browser: TravellingBrowser): Promise<Me | null> => {
  const answer = await fetch(`${gateway.url}/v1/me`, { headers: { cookie: browser.cookie() } });
  return answer.status === 200 ? await answer.json() : null;
};

type Entry = { action: string; actor: string; subject: string; after: Record<string, unknown> | null };
const lastFailure = async () =>
  (await gateway.admin<{ data: Entry[] }>("GET", "/audit?action=sign_in.failed")).data[0];

describe("sign-in at GitHub", () => {
  test("makes a member of an active member of an installed organisation, with their login", async () => {
    const browser = travellingBrowser(gateway.url);
    expect((await pageAfter(browser, somebody("ada"))).href).toBe(`${PUBLIC_URL}/me`);
    expect(await me(browser)).toMatchObject({ email: "ada@example.com", role: "member" });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/people?email=ada@example.com");
    expect(data[0]).toMatchObject({ github_login: "ada", name: "Name of ada", team: null });
    const audit = await gateway.admin<{ data: Entry[] }>("GET", "/audit?actor=ada@example.com");
    expect(audit.data.map(({ action, after }) => [action, after?.["way"] ?? null])).toEqual([
      ["sign_in", "github"],
      ["person.created", null],
    ]);
  });

  test("keeps the role that an administrator set, and notes the login", async () => {
    await gateway.admin("POST", "/people", { email: "bob@example.com", role: "manager" });
    const browser = travellingBrowser(gateway.url);
    await pageAfter(browser, somebody("bob"));
    expect(await me(browser)).toMatchObject({ email: "bob@example.com", role: "manager" });
    const { data } = await gateway.admin<{ data: object[] }>("GET", "/people?email=bob@example.com");
    expect(data[0]).toMatchObject({ github_login: "bob" });
  });

  test("finds the organisation beyond the first page of memberships", async () => {
    const others = Array.from({ length: 120 }, (_, index) => ({
      organization: { ...OTHER, id: 10_000 + index },
      state: "active" as const,
    }));
    const memberships = [...others, { organization: HERE, state: "active" as const }];
    const browser = travellingBrowser(gateway.url);
    await pageAfter(browser, somebody("many", { memberships }));
    expect((await me(browser))?.email).toBe("many@example.com");
  });

  test("keeps no token of GitHub's, in the database or the log", async () => {
    await pageAfter(travellingBrowser(gateway.url), somebody("tok"));
    const rows = JSON.stringify([
      await testSql(gateway.databaseUrl)`select * from sign_in_accounts`,
      await testSql(gateway.databaseUrl)`select * from sign_in_verifications`,
    ]);
    const secrets = [...github.signIn.issued(), github.app.clientSecret];
    expect(secrets.length).toBeGreaterThan(1);
    for (const secret of secrets) {
      expect([rows.includes(secret), gateway.log().includes(secret)]).toEqual([false, false]);
    }
  });

  test("lasts a day, so that the membership is checked daily, and a former member stays outside", async () => {
    const browser = travellingBrowser(gateway.url);
    const person = somebody("day");
    await pageAfter(browser, person);
    const sql = testSql(gateway.databaseUrl);
    await sql`
      update person_sessions set created_at = now() - interval '23 hours 50 minutes',
        expires_at = now() + interval '1 minute'
      where person_id = (select id from people where email = 'day@example.com')`;
    expect(await me(browser)).not.toBeNull();
    const [row] = await sql<{ minutes: number }[]>`
      select round(extract(epoch from s.expires_at - now()) / 60)::int as minutes
      from person_sessions s join people p on p.id = s.person_id where p.email = 'day@example.com'`;
    expect(row?.minutes).toBe(10);
    await sql`update person_sessions set expires_at = now() - interval '1 second'`;
    expect(await me(browser)).toBeNull();
    const page = await pageAfter(browser, { ...person, memberships: [] });
    expect([page.searchParams.get("error"), await me(browser)]).toEqual(["not_member", null]);
  });
});

describe("GitHub's answer lets nobody in, with the reason", () => {
  const active = (organization: Account) => ({ organization, state: "active" as const });
  const unverified = [{ email: "unv@example.com", primary: true, verified: false }];
  const cases: [string, string, Partial<GithubPerson>][] = [
    ["a member of another organisation", "not_member", { memberships: [active(OTHER)] }],
    ["of one that removed the App", "not_member", { memberships: [active(LEFT)] }],
    ["of none", "not_member", { memberships: [] }],
    ["invited only", "membership_pending", { memberships: [{ organization: HERE, state: "pending" }] }],
    ["without a verified primary e-mail", "email_unverified", { emails: unverified }],
    ["without an e-mail", "email_missing", { emails: [] }],
  ];
  test.each(cases)("%s: %s", async (name, reason, given) => {
    const browser = travellingBrowser(gateway.url);
    const page = await pageAfter(browser, somebody(`no-${name.length}`, given));
    expect(page.href).toBe(`${PUBLIC_URL}/sign-in?error=${reason}&next=%2Fme`);
    expect(await lastFailure()).toMatchObject({ subject: "github", after: { cause: reason } });
    expect(await me(browser)).toBeNull();
  });

  test("a disabled person: person_disabled", async () => {
    const { id } = await gateway.admin<{ id: string }>("POST", "/people", { email: "off@example.com" });
    await gateway.admin("DELETE", `/people/${id}`);
    const page = await pageAfter(travellingBrowser(gateway.url), somebody("off"));
    expect(page.searchParams.get("error")).toBe("person_disabled");
  });

  test("somebody who does not agree: denied", async () => {
    const page = await pageAfter(travellingBrowser(gateway.url), null);
    expect(page.searchParams.get("error")).toBe("denied");
  });

  test("a forged code: invalid_answer", async () => {
    const browser = travellingBrowser(gateway.url);
    github.signIn.person = somebody("for");
    const isBack = (url: URL) => url.pathname === "/auth/callback/github";
    const back = new URL((await browser.visit(`${PUBLIC_URL}/auth/sign-in/github`, undefined, isBack)).url);
    back.searchParams.set("code", "forged");
    const page = await browser.visit(back.href, undefined, isPage);
    expect(page.url).toContain("error=invalid_answer");
    // A state of one way does not count for another.
    const other = await browser.visit(back.href.replace("/github", "/oidc"), undefined, isPage);
    expect(other.url).toContain("error=state_mismatch");
  });

  test("GitHub is down: unavailable, and it is tried again", async () => {
    const browser = travellingBrowser(gateway.url);
    github.signIn.person = somebody("dow");
    const isBack = (url: URL) => url.pathname === "/auth/callback/github";
    const back = await browser.visit(`${PUBLIC_URL}/auth/sign-in/github`, undefined, isBack);
    github.signIn.isDown = true;
    expect((await browser.visit(back.url, undefined, isPage)).url).toContain("error=unavailable");
    github.signIn.isDown = false;
    await pageAfter(browser, somebody("dow"));
    expect((await me(browser))?.email).toBe("dow@example.com");
  });
});

test("the App that the set-up page registered signs in, once an account lets it read its members", async () => {
  const registered = await localGateway({
    dataDir: `${place.path}/registered`,
    databaseUrl: gateway.databaseUrl,
    env: { PUBLIC_URL, GHE_HOST: github.host, GHE_PROTOCOL: "http" },
  });
  const offers = async () => (await (await fetch(`${registered.url}/auth/ways-in`)).json()).github;
  expect(await offers()).toBe(false);
  const database = openDatabase(gateway.databaseUrl, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  atEnd(() => database.close());
  const store = createCredentials({
    database,
    config: {
      app: null,
      apiUrl: `${github.url}/api/v3`,
      webhookSecrets: [],
      sealKey: githubAppKey(new Uint8Array(Buffer.from(MASTER_KEY, "base64"))),
    },
    clock: systemClock,
    log: createLog("test", "fatal"),
  });
  const { id: appId, slug, clientId, clientSecret, privateKey, webhookSecret } = github.app;
  await store.register?.(
    {
      ...{ appId, slug, ownerLogin: null, htmlUrl: github.url, apiUrl: `${github.url}/api/v3` },
      secrets: { clientId, clientSecret, privateKey, webhookSecret },
    },
    { address: null, now: new Date() },
  );
  expect(await offers()).toBe(false);
  await testSql(gateway.databaseUrl)`
    update installations set permissions = '{"members": "read"}' where account_id = ${HERE.id}`;
  expect(await offers()).toBe(true);
  const browser = travellingBrowser(registered.url);
  expect((await pageAfter(browser, somebody("reg"))).href).toBe(`${PUBLIC_URL}/me`);
  expect((await me(browser))?.email).toBe("reg@example.com");
  expect(github.faults()).toEqual([]);
});
