import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { askForSecret, readGithubApp } from "#gateway/stores/github-app.ts";
import { startGithubApp } from "#github-app/app.ts";
import { systemClock } from "#shared/clock.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { deliver, keptLog } from "#test/support/github-app.ts";
import { pullRequestPayload } from "#test/support/github-payloads.ts";
import { freePort } from "#test/support/ports.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const ADMIN_KEY = "an-admin-key-of-some-length";
const MASTER_KEY = "5".repeat(64);

let github: FakeGithub;
let own: TestDatabase;
let database: Database;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  github = startFakeGithub();
  own = await testDatabase();
  database = openDatabase(own.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await database.sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, '{"pull_request_stamping": true}', now())`;
});
afterAll(async () => {
  for (const app of running) await app.stop();
  await github.stop();
  await database.close();
  await own.close();
});

async function start(settings: Record<string, string> = { ADMIN_KEY, MASTER_KEY }, clock = systemClock) {
  const port = freePort();
  const { log, lines } = keptLog();
  const config = readGithubAppConfig({
    DATABASE_URL: own.url,
    GITHUB_APP_PORT: String(port),
    GHE_HOST: github.host,
    GHE_PROTOCOL: "http",
    ...settings,
  });
  const app = await startGithubApp({ config, clock, log, writeMs: 0 });
  app.server.listen({ hostname: "127.0.0.1", port });
  running.push(app);
  const url = `http://127.0.0.1:${port}`;
  return { url, lines };
}

const authorization = `Basic ${btoa(`admin:${ADMIN_KEY}`)}`;
const asAdmin = (url: string) => fetch(url, { headers: { authorization }, redirect: "manual" });

const unescaped = (text: string) =>
  text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
const attribute = (text: string, pattern: RegExp) => unescaped(pattern.exec(text)?.[1] ?? "");

test("from nothing to an App that takes webhooks and shows what it sees, without a restart", async () => {
  const first = await start();
  const second = await start();
  expect(await (await fetch(first.url)).text()).toContain('<a href="http://127.0.0.1:8787/set-up">');
  const webhooks = `${first.url}/api/github/webhooks`;
  expect((await deliver(webhooks, "pull_request", pullRequestPayload())).status).toBe(404);

  // Only administrators see anything of it.
  for (const path of ["", "/new?url=https://x.example", "/created", "/installed"]) {
    const answer = await fetch(`${first.url}/setup${path}`);
    expect(answer.status).toBe(401);
    // A browser must not ask for the key.
    expect(answer.headers.get("www-authenticate")).toBeNull();
    expect(await answer.text()).toContain("tallygate setup-link");
  }
  expect(await (await asAdmin(`${first.url}/setup`)).text()).toContain('name="organization"');
  const wrong = await asAdmin(`${first.url}/setup/new?url=${encodeURIComponent("javascript:alert(1)")}`);
  expect(wrong.status).toBe(400);

  const asked = await asAdmin(
    `${first.url}/setup/new?organization=octo-org&url=${encodeURIComponent(first.url)}`,
  );
  expect(asked.headers.get("content-security-policy")).toContain(`form-action 'self' ${github.url}`);
  const form = await asked.text();
  const action = attribute(form, /<form action="([^"]+)" method="post">/);
  const manifest = attribute(form, /name="manifest" value="([^"]+)"/);
  expect(JSON.parse(manifest)).toMatchObject({
    public: false,
    hook_attributes: { url: webhooks, active: true },
    default_permissions: { metadata: "read", pull_requests: "read" },
    default_events: ["pull_request", "pull_request_review", "repository"],
  });
  expect(action).toStartWith(`${github.url}/organizations/octo-org/settings/apps/new?state=`);
  const back = await fetch(action, {
    method: "POST",
    body: new URLSearchParams({ manifest }),
    redirect: "manual",
  });
  const returned = back.headers.get("location") ?? "";
  expect(returned).toStartWith(`${first.url}/setup/created?code=`);

  // A state that is not ours, and one that was tampered with.
  for (const state of ["", "a.99999999999999.b", `${new URL(returned).searchParams.get("state")}x`]) {
    const forged = new URL(returned);
    forged.searchParams.set("state", state);
    expect((await asAdmin(String(forged))).status).toBe(400);
  }
  expect((await asAdmin(returned)).headers.get("refresh")).toEndWith("/installations/new");
  // A second time it would replace the App that works now.
  expect((await asAdmin(returned)).status).toBe(409);

  // Both processes take webhooks now, and only with the secret that GitHub made.
  const { app } = github;
  const secret = app.webhookSecret;
  expect((await deliver(webhooks, "pull_request", pullRequestPayload(), { secret })).status).toBe(202);
  expect((await deliver(webhooks, "pull_request", pullRequestPayload())).status).toBe(401);
  const other = `${second.url}/api/github/webhooks`;
  await until(
    async () => (await deliver(other, "pull_request", pullRequestPayload(), { secret })).status === 202,
  );

  // The webhook secret is changed without a delivery being refused, by any process, also when GitHub fails on the way.
  const change = async () => {
    await database.db.transaction(askForSecret);
    await until(
      async () =>
        (await database.sql`select 1 from github_app_reports where secret_asked_at is null`).length > 0,
    );
  };
  const report = async () => (await readGithubApp(database.db))?.report;
  github.fail({ operation: "PATCH /app/hook/config", status: 422 });
  const taken = async (url: string, secret: string) =>
    (await deliver(url, "pull_request", pullRequestPayload(), { secret })).status;
  await change();
  await until(async () => (await report())?.secret_pending === true);
  expect([app.webhookSecret, await taken(webhooks, secret)]).toEqual([secret, 202]);
  await change();
  await until(async () => (await report())?.secret_pending === false);
  const changed = app.webhookSecret;
  expect(changed).toMatch(/^[0-9a-f]{64}$/);
  for (const url of [webhooks, other]) {
    expect([await taken(url, changed), await taken(url, secret)]).toEqual([202, 202]);
  }
  const entries =
    await database.sql`select action, subject, address, before, after from audit_entries order by id`;
  expect(entries.map(({ action, address }) => [action, address])).toEqual([
    ["github_app.registered", "127.0.0.1"],
  ]);
  expect(entries[0]).toMatchObject({ before: null, after: { app_id: app.id, slug: app.slug } });
  expect((await report())?.former_secret_until).not.toBeNull();
  // What an hour later starts, or runs, takes the new one alone.
  const later = await start(undefined, { ...systemClock, now: () => new Date(Date.now() + 3_700_000) });
  const there = `${later.url}/api/github/webhooks`;
  expect([await taken(there, changed), await taken(there, secret)]).toEqual([202, 401]);

  // Nothing of the credentials is in the database or in the log as it is.
  const [row] = await database.sql`select * from github_apps`;
  const seen = JSON.stringify([row, entries, await report()]) + first.lines.join() + second.lines.join();
  for (const text of [secret, changed, app.clientSecret, "PRIVATE KEY", ADMIN_KEY, MASTER_KEY])
    expect(seen).not.toContain(text);
  expect(github.faults()).toEqual([]);

  // A process that starts afterwards says so in its log.
  const main = join(import.meta.dir, "../../../github-app/main.ts");
  const child = Bun.spawn([process.execPath, main], {
    env: {
      PATH: "/usr/bin:/bin",
      DATABASE_URL: own.url,
      GITHUB_APP_PORT: String(freePort()),
      GHE_HOST: github.host,
      GHE_PROTOCOL: "http",
      ADMIN_KEY,
      MASTER_KEY,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (said.includes('"listening"')) break;
  }
  child.kill("SIGTERM");
  expect(said).toContain(`"webhooks":true,"appId":${app.id},`);
  await child.exited;

  // With another master key they do not open, and the log says so.
  const third = await start({ ADMIN_KEY, MASTER_KEY: "6".repeat(64) });
  expect(third.lines.join()).toContain("MASTER_KEY is not that of the set-up");
  const unopened = await deliver(`${third.url}/api/github/webhooks`, "ping", {}, { secret: changed });
  expect(unopened.status).toBe(404);
});

test("plain environment variables come first, and without the keys there is no page", async () => {
  const byHand = await start({ ADMIN_KEY, WEBHOOK_SECRET: "a secret of more than sixteen characters" });
  const answer = await deliver(`${byHand.url}/api/github/webhooks`, "pull_request", pullRequestPayload());
  expect(answer.status).toBe(202);
  expect(await (await fetch(byHand.url)).text()).toContain("receive-only");
  expect((await asAdmin(`${byHand.url}/setup`)).status).toBe(404);
  const bare = await start({});
  expect((await asAdmin(`${bare.url}/setup`)).status).toBe(404);
  expect((await fetch(`${bare.url}/metrics`)).status).toBe(401);
  const metrics = await asAdmin(`${byHand.url}/metrics`);
  expect(await metrics.text()).toContain('tallygate_github_deliveries_total{answer="accepted"} 1');
});
