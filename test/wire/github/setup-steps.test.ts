import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { requests } from "#drizzle/schema/records.ts";
import { askForReport, readArrivals, readGithubApp, readWaitingMerges } from "#gateway/stores/github-app.ts";
import { startGithubApp } from "#github-app/app.ts";
import { systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { githubAppKey, parseMasterKey } from "#shared/master-key.ts";
import { newSetupLink } from "#shared/setup-link.ts";
import { recordAt } from "#test/admin/records.ts";
import { BROWSER, faultsOfAccess, launchBrowser, visit } from "#test/support/browser.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { deliver, keptLog } from "#test/support/github-app.ts";
import { freePort } from "#test/support/ports.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const ADMIN_KEY = "an-admin-key-of-some-length";
const MASTER_KEY = "5".repeat(64);
const KEY = githubAppKey(parseMasterKey(MASTER_KEY) ?? new Uint8Array());

let github: FakeGithub;
let own: TestDatabase;
let database: Database;
let app: Awaited<ReturnType<typeof startGithubApp>>;
let url: string;
const { log, lines } = keptLog();

beforeAll(async () => {
  github = startFakeGithub();
  own = await testDatabase();
  database = openDatabase(own.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const port = freePort();
  const config = readGithubAppConfig({
    ...{ DATABASE_URL: own.url, GITHUB_APP_PORT: String(port), GHE_HOST: github.host, GHE_PROTOCOL: "http" },
    ...{ ADMIN_KEY, MASTER_KEY, PUBLIC_URL: "https://gateway.example.com/" },
  });
  app = await startGithubApp({ config, clock: systemClock, log, writeMs: 0 });
  app.server.listen({ hostname: "127.0.0.1", port });
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await app.stop();
  await github.stop();
  await database.close();
  await own.close();
});

const unescaped = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
const attribute = (text: string, pattern: RegExp) => unescaped(pattern.exec(text)?.[1] ?? "");
/** What the console shows: the gateway's view of the database that both share. */
async function view() {
  await askForReport(database);
  return { ...(await readGithubApp(database.db)), ...(await readArrivals(database.db)) };
}

let cookie = "";
const get = (path: string) => fetch(`${url}${path}`, { headers: { cookie }, redirect: "manual" });
const post = (path: string, form: Record<string, string>) =>
  fetch(`${url}${path}`, {
    ...{ method: "POST", headers: { cookie }, body: new URLSearchParams(form), redirect: "manual" },
  });

test("a one-time link opens the page once, and the admin key is not asked for", async () => {
  const { path } = newSetupLink(KEY, new Date());
  const token = new URL(path, url).searchParams.get("token") ?? "";
  expect(await (await fetch(`${url}${path}`)).text()).toContain(token);
  const entered = await post("/setup/enter", { token });
  expect(entered.headers.get("location")).toBe("/setup");
  const set = entered.headers.get("set-cookie") ?? "";
  expect(set).toMatch(/; Path=\/setup; Max-Age=3600; HttpOnly; SameSite=Lax$/);
  expect((await post("/setup/enter", { token })).status).toBe(401);
  expect((await post("/setup/enter", { token: `${token}x` })).status).toBe(401);
  const old = newSetupLink(KEY, new Date(Date.now() - 16 * 60_000));
  expect((await post("/setup/enter", { token: old.path.split("=")[1] ?? "" })).status).toBe(401);
  cookie = set.split(";")[0] ?? "";
  expect((await get("/setup")).status).toBe(200);
  expect((await fetch(`${url}/setup`, { headers: { cookie: `${cookie}x` } })).status).toBe(401);
});

/** The address that the form names, confirmed at the stand-in for GitHub; resolves with where it sends the browser back. */
async function make(query: string): Promise<{ form: string; back: string }> {
  const form = await (await get(`/setup/new?${query}`)).text();
  const action = attribute(form, /<form action="([^"]+)" method="post">/);
  const manifest = attribute(form, /name="manifest" value="([^"]+)"/);
  const body = new URLSearchParams({ manifest });
  const answer = await fetch(action, { method: "POST", body, redirect: "manual" });
  return { form, back: (answer.headers.get("location") ?? "").replace(url, "") };
}

test("what the console shows of it follows from GitHub's answers, and the way ends in the console", async () => {
  await until(async () => (await view()).report?.port === Number(new URL(url).port));
  expect((await view()).report).toMatchObject({ can_register: true, receives: false, app: null });
  const { form, back } = await make(`organization=octo-org&url=${encodeURIComponent(url)}`);
  expect(form).toContain("This address is the server itself");
  const installing = (await get(back)).headers.get("refresh");
  await until(async () => (await view()).report?.app?.id === github.app.id);
  expect(installing).toBe(`0; url=${(await view()).report?.app?.html_url}/installations/new`);

  expect((await view()).reached_at).toBeNull();
  const secret = github.app.webhookSecret;
  expect((await deliver(`${url}/api/github/webhooks`, "ping", { zen: "x" }, { secret })).status).toBe(202);
  await until(async () => (await view()).reached_at !== null);

  github.deliverTo(`${url}/api/github/webhooks`);
  const repository = github.story.addRepository("octo-org/app");
  await github.story.install({ repositories: [repository] });
  expect((await get("/setup/installed")).headers.get("location")).toBe("https://gateway.example.com/set-up");
  // Seen though nothing is stored yet.
  await until(async () => (await view()).report?.installations[0]?.account === "octo-org");
  expect(await database.sql`select 1 from installations`).toHaveLength(0);
  expect((await view()).report).toMatchObject({ missing: [], fault: null, installations: [{ missing: [] }] });
  const entries =
    await database.sql`select action, address from audit_entries where actor = 'set-up page' order by id`;
  expect(entries.map(({ action }) => action)).toEqual(["setup_link.used", "github_app.registered"]);
  expect(entries.every(({ address }) => address === "127.0.0.1")).toBe(true);
});

test("a second registration replaces no App that works, unless its name is entered", async () => {
  const { id, slug } = github.app;
  const there = `url=${encodeURIComponent(url)}`;
  expect(await (await get("/setup/new")).text()).toContain(`The App <strong>${slug}</strong> works here`);
  const refused = await get(`/setup/new?${there}`);
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining("Enter the present App"),
  ]);
  // Two administrators began at once: the later one may not replace what the other has just made.
  const { back } = await make(`${there}&replaces=${slug}`);
  expect((await get(back)).headers.get("refresh")).toEndWith("/installations/new");
  const [first] = await database.sql`select app_id from github_apps`;
  expect(Number(first?.["app_id"])).not.toBe(id);
  const late = await get(back);
  expect([late.status, await late.text()]).toEqual([409, expect.stringContaining("still works")]);
  expect(Number((await database.sql`select app_id from github_apps`)[0]?.["app_id"])).toBe(
    Number(first?.["app_id"]),
  );
});

test("deliveries that fail and deliveries that are refused are shown", async () => {
  await deliver(`${url}/api/github/webhooks`, "ping", {}, { secret: "another secret of some length" });
  const repository = github.story.addRepository("octo-org/lost");
  await github.story.openPullRequest({ repository }, { lost: true });
  await until(async () => (await view()).refused.some(({ answer }) => answer === "unsigned"));
  await until(async () => ((await view()).report?.failed_deliveries?.failed ?? 0) > 0);
});

test("a stamped merge that arrives while joining is off waits, alone, and is joined once it is on", async () => {
  const repository = github.story.addRepository("octo-org/waits");
  await github.story.install({ repositories: [repository] });
  const merge = async (body: string) => {
    const pull = await github.story.openPullRequest({ repository, body });
    await github.story.merge(pull);
    return pull.number;
  };
  const number = await merge("Gateway-Session: s-waits");
  await merge("No line.");
  await merge("Gateway-Session: s-one\nGateway-Session: s-two");
  const waiting = () => readWaitingMerges(database.db);
  await until(async () => (await waiting()).length > 0);
  expect(await waiting()).toEqual([
    {
      ...{ repository_id: repository.id, repository: null, number, author: expect.any(String) },
      ...{ session: "s-waits", merged_at: expect.stringMatching(/Z$/) },
    },
  ]);
  for (const table of ["pull_requests", "webhook_inbox", "repositories", "installations"]) {
    const rows = await database.sql`select 1 from ${database.sql(table)}`;
    expect([table, rows.length]).toEqual([table, 0]);
  }
  await database.sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, '{"pull_request_stamping": true}', now())`;
  const facts = { owner: "ada@example.com", session: "s-waits" };
  await database.db.insert(requests).values([recordAt(new Date().toISOString(), facts)]);
  await until(async () => {
    const [row] = await database.sql`select link from pull_requests where session = 's-waits'`;
    return row?.["link"] === "joined";
  });
  await until(async () => (await waiting()).length === 0);
});

test.skipIf(!BROWSER)("the page reads well on a phone in the dark, as on a desk by day", async () => {
  const browser = await launchBrowser();
  const { page, context, faults } = await visit(browser, { origin: url });
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, url: `${url}/setup` }]);
  for (const [path, width, colorScheme] of [
    ["/setup", 1440, "light"],
    ["/setup", 390, "dark"],
    ["/setup/new", 390, "dark"],
    ["/setup/new", 390, "light"],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.goto(path);
    const tooWide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    // Among axe's rules is the contrast of texts and buttons.
    expect([path, width, await faultsOfAccess(page), tooWide]).toEqual([path, width, [], 0]);
  }
  expect(faults).toEqual([]);
});

test("wrong keys and links are slowed from the tenth in a minute on; a browser that is in is not", async () => {
  const guess = (key: string) =>
    fetch(`${url}/setup`, { headers: { authorization: `Basic ${btoa(`x:${key}`)}` } });
  const statuses: number[] = [];
  for (let n = 0; n < 12; n++) statuses.push((await guess(`wrong-${n}`)).status);
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
  expect(statuses.at(-1)).toBe(429);
  const right = await guess(ADMIN_KEY);
  expect([right.status, Number(right.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect((await post("/setup/enter", { token: "x" })).status).toBe(429);
  expect((await get("/setup")).status).toBe(200);
  expect(lines.join()).not.toContain(ADMIN_KEY);
});
