import { afterEach, expect, test } from "bun:test";
import type { Database } from "#drizzle/database.ts";
import {
  type FakeGithub,
  type FakeGithubOptions,
  startFakeGithub,
} from "#test/support/fake-github/fake-github.ts";
import type { PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { runGithubApp, stampingDatabase } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().replace(/\.\d+Z/, "Z");

async function scene(options: FakeGithubOptions & { backfillDays?: number } = {}) {
  const github = startFakeGithub(options);
  const own = await testDatabase();
  const database = await stampingDatabase(own.url, {
    pull_request_backfill_days: options.backfillDays ?? 90,
  });
  const repository = github.story.addRepository("octo/one");
  ends.push(
    () => own.close(),
    () => database.close(),
    () => github.stop(),
  );
  const run = async (timing: Parameters<typeof runGithubApp>[2] = {}) => {
    const app = await runGithubApp(github, own.url, timing);
    ends.push(app.stop);
    return app;
  };
  return { github, database, repository, run };
}

/** Pull requests that were merged a day apart, with a review each; the last one today. */
async function fill(github: FakeGithub, repository: Repository, count: number): Promise<PullRequest[]> {
  const silent = { silent: true };
  const pulls: PullRequest[] = [];
  for (let n = 0; n < count; n++) {
    const at = daysAgo(count - 1 - n);
    const pull = await github.story.openPullRequest(
      { repository, body: `Gateway-Session: s${n}`, at },
      silent,
    );
    await github.story.submitReview(pull, { body: `Gateway-Session: r${n}`, at }, silent);
    await github.story.merge(pull, { ...silent, at });
    pulls.push(pull);
  }
  return pulls;
}

const counts = async ({ sql }: Database) => {
  const [row] = await sql`
    select (select count(*)::integer from pull_requests) as pulls, (select count(*)::integer from reviews) as reviews,
      (select count(*)::integer from github_passes where finished_at is not null) as passes`;
  return row as { pulls: number; reviews: number; passes: number };
};

/** Has the repositories listed until `seen`: who has just listed them may note only now that it has done so. */
const listedUntil = ({ sql }: Database, seen: () => Promise<boolean>) =>
  until(async () => {
    await sql`update github_tasks set done_at = null where done_at is not null`;
    return await seen();
  });

const countOf = (github: FakeGithub, operation: string) =>
  github.calls.filter((it) => it === operation).length;
const LIST = "GET /repos/{owner}/{repo}/pulls";
const REVIEWS = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews";

test("a pass waits where GitHub's limit says so, is tried again after failures, and then goes on", async () => {
  const it = await scene({ rateLimit: { limit: 25, windowMs: 2_000 } });
  await fill(it.github, it.repository, 15);
  await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  it.github.fail({ status: 502, operation: LIST });
  it.github.fail({ status: 500, operation: "GET /app/installations" });
  it.github.fail({
    status: 403,
    operation: REVIEWS,
    message: "You have exceeded a secondary rate limit",
    headers: { "retry-after": "1" },
  });
  const app = await it.run();
  await until(async () => (await counts(it.database)).passes === 1);
  expect(await counts(it.database)).toEqual({ pulls: 15, reviews: 15, passes: 1 });
  expect(app.lines.join()).toContain("a repository was reconciled");
  expect(it.github.faults()).toEqual([]);
});

test("what is refused for an hour is not asked for again, and the wait outlives the process", async () => {
  const it = await scene({ rateLimit: { limit: 5, windowMs: 3_600_000 } });
  await fill(it.github, it.repository, 30);
  await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  const app = await it.run();
  const refused = () => it.database.sql`select 1 from github_passes where failure = 'rate_limited'`;
  await until(async () => (await refused()).length > 0);
  expect(app.lines.join()).toContain("limit is near");
  await app.stop();
  // Commits of merges are asked for by another round.
  const reads = () => it.github.calls.filter((one) => one === LIST || one === REVIEWS).length;
  const asked = reads();
  await it.run();
  await Bun.sleep(300);
  expect(asked).toBeGreaterThan(0);
  expect(reads() - asked).toBe(0);
  const [pass] = await it.database
    .sql`select due_at > now() + interval '30 minutes' as waits, failure from github_passes`;
  expect(pass).toMatchObject({ waits: true, failure: "rate_limited" });
});

test("the next pass asks only for what changed, and heals what no delivery told", async () => {
  const it = await scene();
  const pulls = await fill(it.github, it.repository, 20);
  const installation = await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  await it.run({ reconcile: { passMs: 100, roundMs: 1_000 } });
  await until(async () => (await counts(it.database)).passes === 1);
  await Bun.sleep(200);
  const before = countOf(it.github, REVIEWS);
  const pull = pulls[3] as PullRequest;
  await it.github.story.editBody(pull, "Gateway-Session: other", { lost: true });
  const session = async () =>
    (await it.database.sql`select session from pull_requests where number = 4`)[0]?.["session"];
  await until(async () => (await session()) === "other");
  const passes = countOf(it.github, LIST) / 2;
  // The latest ones again in each pass, because lists may lag, and the one that changed.
  expect(countOf(it.github, REVIEWS) - before).toBeLessThanOrEqual(3 * passes);
  // A repository that leaves the installation unseen is no longer asked about.
  installation.repositories = [];
  const covered = async () => (await it.database.sql`select covered from repositories`)[0]?.["covered"];
  await listedUntil(it.database, async () => (await covered()) === false);
  const events = await it.database.sql`select kind from coverage_changes where repository_id > 0 order by at`;
  expect(events.map((row) => row["kind"])).toEqual(["added", "removed"]);
});

test("repositories that are due again at once do not keep installations from being read", async () => {
  const it = await scene();
  await fill(it.github, it.repository, 1);
  const installation = await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  await it.run({ reconcile: { passMs: 0, roundMs: 100 } });
  await until(async () => countOf(it.github, LIST) > 4);
  installation.repositories = [];
  const covered = () => it.database.sql`select 1 from repositories where covered`;
  await listedUntil(it.database, async () => (await covered()).length === 0);
});

test("an installation is read back as many days as the setting says", async () => {
  const it = await scene({ backfillDays: 7 });
  await fill(it.github, it.repository, 30);
  await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  await it.run();
  await until(async () => (await counts(it.database)).passes === 1);
  expect(await counts(it.database)).toEqual({ pulls: 7, reviews: 7, passes: 1 });
});

test("of two processes one reads, and when it ends the other goes on", async () => {
  const it = await scene();
  await fill(it.github, it.repository, 60);
  await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  // A busy machine must not lose the lease that it has.
  const run = () => it.run({ reconcile: { leaseMs: 10_000 } });
  const [first] = await Promise.all([run(), run()]);
  await until(async () => (await counts(it.database)).passes === 1);
  expect(countOf(it.github, REVIEWS)).toBe(60);
  await first.stop();
  const added = it.github.story.addRepository("octo/two");
  await fill(it.github, added, 3);
  it.github.world.installations[0]?.repositories.push(added);
  await listedUntil(it.database, async () => (await counts(it.database)).passes === 2);
  expect((await counts(it.database)).pulls).toBe(63);
});

test("while stamping is off, nothing is asked", async () => {
  const it = await scene();
  await it.database.sql`update settings set value = '{}'`;
  await it.github.story.install({ repositories: [it.repository] }, { lost: true });
  await it.run();
  await Bun.sleep(200);
  expect(it.github.calls.filter((call) => call !== "GET /app")).toEqual([]);
});
