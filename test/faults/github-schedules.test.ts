import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type Database, openDatabase } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { insertRequest } from "#test/support/github-app.ts";
import { startFastGithubApp } from "#test/support/github-app-process.ts";
import { githubTables, githubTablesDigest } from "#test/support/github-tables.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import { fillRepositories, liveStory } from "./github-world.ts";

/** More are run by `SCHEDULES=1000 PULL_REQUESTS=10000 bun test test/faults/github-schedules.test.ts`. */
const SCHEDULES = Number(process.env["SCHEDULES"] ?? 12);
const PULL_REQUESTS = Number(process.env["PULL_REQUESTS"] ?? 400);

let github: FakeGithub;
let own: TestDatabase;
let database: Database;
let app: Awaited<ReturnType<typeof startFastGithubApp>>;
let live: Awaited<ReturnType<typeof liveStory>>;
/** The deliveries of the live story, as GitHub's list of attempts held them at first. */
let story: FakeGithub["deliveries"]["attempts"];

beforeAll(async () => {
  // Ten thousand pull requests take more calls than GitHub grants in an hour; the waiting is tested elsewhere.
  github = startFakeGithub({ rateLimit: { limit: 1_000_000, windowMs: 3_600_000 } });
  own = await testDatabase();
  database = openDatabase(own.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
  await insertRequest(database, "known", "2026-11-01T08:00:00Z");
  const value = { pull_request_stamping: true, pull_request_backfill_days: 3650 };
  await database.sql`
    insert into settings (org_id, value, updated_at) values (${DEFAULT_ORG}, ${database.sql.json(value)}, now())`;
  const repositories = await fillRepositories(github, PULL_REQUESTS);
  await github.story.install({ id: 1, repositories }, { lost: true });
  github.deliveries.attempts.length = 0;
  // Here and not in the first test, with which it would end.
  app = await startFastGithubApp(settings());
});
afterAll(async () => {
  await app?.kill();
  await github.stop();
  await database.close();
  await own.close();
});

const settings = () => ({
  DATABASE_URL: own.url,
  APP_ID: String(github.app.id),
  PRIVATE_KEY: github.app.privateKey,
  WEBHOOK_SECRET: github.app.webhookSecret,
  GHE_HOST: github.host,
  GHE_PROTOCOL: "http",
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 600_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await Bun.sleep(15);
  }
}

const allRead = async () => {
  const [row] = await database.sql`
    select count(*)::integer as open from github_passes where phase <> 'idle' or finished_at is null or due_at <= now()`;
  const [turn] = await database.sql`
    select done_at is not null and leased_until is null as done from github_tasks where name = 'reconcile'`;
  return row?.["open"] === 0 && turn?.["done"] === true;
};

const pullsRead = async () => {
  const [row] = await database.sql`select count(*)::integer as size from pull_requests`;
  return row?.["size"] as number;
};

/** All that GitHub knows, asked for anew: by a round that begins after all deliveries were applied. */
async function reconcile() {
  const { sql } = database;
  await until("the round under way", async () => {
    const free = await sql`
      update github_tasks set done_at = null
      where name = 'reconcile' and coalesce(leased_until, '-infinity') < now() returning name`;
    return free.length === 1;
  });
  await sql`
    update github_passes set due_at = now() - interval '1 second', phase = 'idle', page = 1, watermark = null,
      stop_at = null, finished_at = null
    where repository_id in ${sql(liveIds())}`;
  await until("reconcile", allRead);
}

const liveIds = () => [live.live.id, live.side.id];
const everything = { repositories: [], others: true };
const backfilledOnes = () => ({ repositories: liveIds(), others: true });
/** What a schedule leads to in the live repositories. */
const outcome = (whole: boolean) => githubTables(database, { repositories: liveIds() }, { whole });

/** Forgets the live installation, and what was heard of it. */
async function forget() {
  const { sql } = database;
  const ids = liveIds();
  await sql.begin(async (tx) => {
    await tx`delete from webhook_inbox`;
    await tx`delete from pull_requests where repository_id in ${tx(ids)}`;
    await tx`delete from reviews where repository_id in ${tx(ids)}`;
    await tx`delete from repositories where id in ${tx(ids)}`;
    await tx`delete from coverage_changes where installation_id = 2`;
    await tx`delete from installations where id = 2`;
    await tx`delete from github_passes where repository_id in ${tx(ids)}`;
  });
  github.deliveries.attempts.splice(0, Number.POSITIVE_INFINITY, ...story);
}

const inboxDone = async () => {
  const [row] =
    await database.sql`select count(*)::integer as left from webhook_inbox where processed_at is null`;
  return row?.["left"] === 0;
};

/** Lets the App look for failed deliveries until each has arrived, be it that GitHub did not hear of it. */
async function redeliverAll() {
  const { sql } = database;
  const wanted = new Set(github.deliveries.attempts.map((it) => it.guid)).size;
  const arrived = async () => {
    const [row] = await sql`select count(*)::integer as size from webhook_inbox`;
    return row?.["size"] as number;
  };
  for (let tries = 0; (await arrived()) < wanted; tries++) {
    if (tries > 50) throw new Error("deliveries were not delivered again");
    await sql`update github_tasks set done_at = null, next_attempt_at = null where name = 'redeliver'`;
    await until("a look at failed deliveries", async () => {
      const [row] = await sql`select done_at is not null as done from github_tasks where name = 'redeliver'`;
      return row?.["done"] === true;
    });
    // GitHub delivers after it has answered.
    for (let waits = 0; waits < 20 && (await arrived()) < wanted; waits++) await Bun.sleep(10);
  }
}

test("a backfill through kills ends in the same tables as one without", async () => {
  // Three kills, at whatever it does then.
  for (const share of [0.1, 0.5, 0.8]) {
    await until("progress", async () => (await pullsRead()) >= PULL_REQUESTS * share);
    await app.kill();
    await app.start();
  }
  await app.kill();
  await app.start();
  await until("the backfill", allRead);
  expect(await pullsRead()).toBe(PULL_REQUESTS);
  const backfilled = await githubTablesDigest(database, everything);

  const { sql } = database;
  await sql`truncate pull_requests, reviews, repositories, installations, coverage_changes, github_passes, github_tasks`;
  await until("the second backfill", async () => (await pullsRead()) === PULL_REQUESTS && (await allRead()));
  expect(await githubTablesDigest(database, everything)).toBe(backfilled);
  expect(github.faults()).toEqual([]);
}, 3_600_000);

type Step = { index: number; wait: boolean };
type Schedule = { steps: Step[]; kills: number[]; forever: boolean };

async function play({ steps, kills, forever }: Schedule) {
  await forget();
  const sent: Promise<unknown>[] = [];
  for (const [place, { index, wait }] of steps.entries()) {
    const attempt = story[index];
    const delivery = attempt && github.deliveries.again(attempt.id);
    if (delivery) sent.push(delivery);
    if (wait) await delivery;
    if (kills.includes(place)) {
      // What is under way is lost, or was stored and not answered.
      await app.kill();
      await app.start();
    }
  }
  await Promise.all(sent);
  if (forever) github.deliveries.attempts.length = 0;
  else await redeliverAll();
  await until("the inbox", inboxDone);
  await reconcile();
}

test("any order, repetition, loss and kill ends in the same tables, which are those of reconcile alone", async () => {
  live = await liveStory(github);
  story = [...github.deliveries.attempts];
  github.deliverTo(app.webhooks);
  const indices = story.map((_, index) => index);

  // Nothing is delivered at all.
  await play({ steps: [], kills: [], forever: true });
  const asked = await outcome(false);
  expect(asked.pullRequests).toMatchObject([
    { number: 1, state: "merged", link: "joined", session: "known" },
    { number: 2, state: "merged", link: "joined", session: "known" },
    { number: 3, state: "merged", link: "no_stamp", author_is_bot: true },
    { number: 4, state: "merged", reverts_by_branch: 1 },
    { number: 5, state: "merged", link: "no_stamp" },
    { number: 6, state: "closed", link: "not_merged" },
    { number: 7, state: "open", link: "open" },
  ]);
  const names = asked.repositories.find((row) => Number(row["id"]) === live.live.id);
  expect(names).toMatchObject({ full_name: "octo/alive", covered: true });

  // All is delivered, in its order.
  await play({ steps: indices.map((index) => ({ index, wait: true })), kills: [], forever: false });
  const inOrder = await outcome(true);
  const reports = withoutFormerNames(await outcome(false));
  const backfilled = await githubTablesDigest(database, backfilledOnes());
  expect(reports).toEqual(withoutFormerNames(asked));

  const arrangement = fc
    .tuple(fc.shuffledSubarray(indices), fc.shuffledSubarray(indices), fc.boolean())
    .chain(([once, again, forever]) => {
      const places = [...once, ...again];
      return fc.record({
        steps: fc
          .tuple(
            fc.shuffledSubarray([...places.keys()], { minLength: places.length }),
            fc.array(fc.boolean(), { minLength: places.length, maxLength: places.length }),
          )
          .map(([order, waits]) =>
            order.map((place, n): Step => ({ index: places[place] ?? 0, wait: waits[n] ?? true })),
          ),
        // One schedule in three loses its process, some of them twice.
        kills: fc.oneof(
          { weight: 2, arbitrary: fc.constant<number[]>([]) },
          {
            weight: 1,
            arbitrary: fc.array(fc.nat(Math.max(0, places.length - 1)), { minLength: 1, maxLength: 2 }),
          },
        ),
        forever: fc.constant(forever),
      });
    });
  let kills = 0;
  await fc.assert(
    fc.asyncProperty(arrangement, async (schedule) => {
      kills += schedule.kills.length;
      await play(schedule);
      if (schedule.forever) expect(withoutFormerNames(await outcome(false))).toEqual(reports);
      else expect(await outcome(true)).toEqual(inOrder);
      expect(await githubTablesDigest(database, backfilledOnes())).toBe(backfilled);
    }),
    { numRuns: SCHEDULES, endOnFailure: true },
  );
  console.log(
    `${SCHEDULES} schedules over ${PULL_REQUESTS} pull requests, ${kills} kills: the same tables each time`,
  );
  expect(github.faults()).toEqual([]);
}, 3_600_000);

/** That a repository had another name only a delivery tells. */
const withoutFormerNames = (tables: Awaited<ReturnType<typeof outcome>>) => ({
  ...tables,
  repositories: tables.repositories.map(({ former_names: _, ...row }) => row),
});
