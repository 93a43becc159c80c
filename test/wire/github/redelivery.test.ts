import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "#drizzle/database.ts";
import { whileHeld } from "#drizzle/leases/lease.ts";
import { REDELIVER_TIMING } from "#github-app/redeliver/redeliver.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { type PostgresGate, postgresGate } from "#test/support/postgres-gate.ts";
import { runGithubApp, stampingDatabase } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";

let github: FakeGithub;
let own: TestDatabase;
let gate: PostgresGate;
let database: Database;
let app: Awaited<ReturnType<typeof runGithubApp>>;

beforeAll(async () => {
  github = startFakeGithub();
  own = await testDatabase();
  gate = await postgresGate(own.url);
  database = await stampingDatabase(own.url);
  app = await runGithubApp(github, gate.url, { redeliver: { everyMs: 500 } });
  github.deliverTo(app.webhooks);
});
afterAll(async () => {
  await app.stop();
  await github.stop();
  await database.close();
  await gate.close();
  await own.close();
});

const attempts = () => github.deliveries.attempts;

test("while Postgres is away deliveries are answered 503, and redelivery heals them afterwards", async () => {
  const { story } = github;
  const repository = story.addRepository("octo/one");
  await story.install({ repositories: [repository] });
  expect(attempts().map((it) => it.statusCode)).toEqual([202]);
  await gate.shut();
  const pulls = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      story.openPullRequest({ repository, body: `Gateway-Session: s${n}` }),
    ),
  );
  await Promise.all(pulls.map((pull) => story.merge(pull)));
  // The App cannot look for them either, and does not end for it.
  expect(
    attempts()
      .slice(1)
      .map((it) => it.statusCode),
  ).toEqual(Array.from({ length: 20 }, () => 503));
  await gate.open();
  const count = async (what: "webhook_inbox" | "pull_requests") =>
    (await database.sql`select count(*)::integer as size from ${database.sql(what)}`)[0]?.["size"];
  await until(async () => (await count("webhook_inbox")) === 21);
  await until(async () => (await count("pull_requests")) === 10);
  expect(app.lines.join()).toContain("failed deliveries are redelivered");
  expect(app.lines.filter((line) => line.includes("a round of work failed")).length).toBeLessThan(20);
  expect(github.faults()).toEqual([]);
});

test("what arrived is not asked for again, nor what says nothing here", async () => {
  await until(() => attempts().length >= 41);
  const before = attempts().length;
  // Reached the inbox, though GitHub did not hear of it.
  for (const it of attempts()) it.statusCode = 0;
  attempts().push({
    id: 1,
    guid: "other",
    event: "star",
    body: "{}",
    statusCode: 0,
    redelivery: false,
    deliveredAt: new Date(),
  });
  const looks = () => github.calls.filter((it) => it === "GET /app/hook/deliveries").length;
  const seen = looks();
  await until(() => looks() >= seen + 2);
  expect(attempts().length).toBe(before + 1);
});

test("after an App was killed while it asked for redeliveries, another goes on within a minute", async () => {
  const hub = startFakeGithub();
  const place = await testDatabase();
  const rows = await stampingDatabase(place.url);
  const { leaseMs, pollMs } = REDELIVER_TIMING;
  expect(leaseMs + pollMs).toBeLessThanOrEqual(60_000);
  const settings = {
    DATABASE_URL: place.url,
    APP_ID: String(hub.app.id),
    PRIVATE_KEY: hub.app.privateKey,
    WEBHOOK_SECRET: hub.app.webhookSecret,
    GHE_HOST: hub.host,
    GHE_PROTOCOL: "http",
  };
  await hub.story.install({ repositories: [hub.story.addRepository("octo/two")] }, { lost: true });
  const asked = Promise.withResolvers<void>();
  const never = Promise.withResolvers<void>();
  hub.onCall("POST /app/hook/deliveries/{delivery_id}/attempts", () => {
    asked.resolve();
    return never.promise;
  });
  const first = await startGithubApp(settings);
  await asked.promise;
  await first.kill();
  const [task] = await rows.sql`
    select extract(epoch from leased_until - now())::float8 as left from github_tasks where name = 'redeliver'`;
  expect(task?.["left"]).toBeGreaterThan(0);
  expect(task?.["left"]).toBeLessThanOrEqual(leaseMs / 1000);
  // As if that time had passed.
  await rows.sql`update github_tasks set leased_until = now() where name = 'redeliver'`;
  hub.onCall("POST /app/hook/deliveries/{delivery_id}/attempts", null);
  const second = await runGithubApp(hub, place.url);
  hub.deliverTo(second.webhooks);
  await until(() =>
    hub.deliveries.attempts.some(({ redelivery, statusCode }) => redelivery && statusCode === 202),
  );
  never.resolve();
  await second.stop();
  await rows.close();
  await hub.stop();
  await place.close();
});

test("a lease is renewed for as long as the work takes, and lost only to another", async () => {
  const renewals = [true, true, false];
  let renewed = 0;
  const seen = await whileHeld({ renew: async () => renewals[renewed++] ?? false }, 30, async (isHeld) => {
    await until(() => renewed === 2);
    const before = isHeld();
    await until(() => !isHeld());
    return [before, isHeld()];
  });
  expect(seen).toEqual([true, false]);
});
