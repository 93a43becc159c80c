import { afterEach, expect, test } from "bun:test";
import type { Database } from "#drizzle/database.ts";
import { CALLS_AT_ONCE } from "#github-app/github/gate.ts";
import type { Settings } from "#shared/settings.ts";
import { movableClock } from "#test/stores/movable-clock.ts";
import {
  type FakeGithub,
  type FakeGithubOptions,
  startFakeGithub,
} from "#test/support/fake-github/fake-github.ts";
import type { Installation, PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { testDatabase } from "#test/support/postgres.ts";
import { runGithubApp, stampingDatabase } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";

// The stand-in for GitHub is strict here: it notes every call inside a wait that it asked for.

const ALL = { metadata: "read", pull_requests: "write", checks: "write", issues: "write" };
const CHECK = "POST /repos/{owner}/{repo}/check-runs";
const LIST = "GET /repos/{owner}/{repo}/pulls";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Scene = {
  github: FakeGithub;
  database: Database;
  /** GitHub's and the App's. */
  clock: ReturnType<typeof movableClock>;
  repository: Repository;
  installation: Installation;
  run: (timing?: Parameters<typeof runGithubApp>[2]) => Promise<Awaited<ReturnType<typeof runGithubApp>>>;
};

async function scene(options: FakeGithubOptions & { settings?: Partial<Settings> } = {}): Promise<Scene> {
  const clock = movableClock();
  const github = startFakeGithub({ ...options, now: clock.now });
  const own = await testDatabase();
  github.app.permissions = ALL;
  const database = await stampingDatabase(own.url, options.settings);
  const repository = github.story.addRepository("octo/one", { private: true });
  const installation = await github.story.install(
    { repositories: [repository], permissions: ALL },
    { lost: true },
  );
  ends.push(
    () => own.close(),
    () => database.close(),
    () => github.stop(),
  );
  const run: Scene["run"] = async (timing = {}) => {
    const app = await runGithubApp(github, own.url, { clock, ...timing });
    ends.push(app.stop);
    github.deliverTo(app.webhooks);
    return app;
  };
  return { github, database, clock, repository, installation, run };
}

async function open({ github, repository }: Scene, count: number): Promise<PullRequest[]> {
  const pulls: PullRequest[] = [];
  for (let n = 0; n < count; n++) {
    const pull = await github.story.openPullRequest({ repository, body: `Gateway-Session: s${n}` }, LOST);
    await github.story.submitReview(pull, { body: `Gateway-Session: r${n}` }, LOST);
    pulls.push(pull);
  }
  return pulls;
}
const LOST = { silent: true };

const rows = async ({ sql }: Database, table: "pull_requests" | "reviews") =>
  (await sql`select count(*)::integer as rows from ${sql(table)}`)[0]?.["rows"];

/** Resolves once `look` is true; meanwhile the clock goes ten times as fast, so that the waits that GitHub asks for pass. */
const untilWaited = ({ clock }: Scene, look: () => boolean) =>
  until(() => {
    clock.advance(100);
    return look();
  });

const countOf = (github: FakeGithub, operation: string) =>
  github.calls.filter((it) => it === operation).length;

/** Calls that were on their way when GitHub asked to wait cannot be called back. */
const expectPatience = ({ patience }: FakeGithub, waits: number) => {
  expect(patience.late.length).toBeLessThanOrEqual(waits * (CALLS_AT_ONCE - 1));
  expect(patience.atOnce).toBeLessThanOrEqual(CALLS_AT_ONCE);
};

test("a refusal closes the gate for all calls of the installation, and in the end no work is left undone", async () => {
  const it = await scene({ slowMs: 5, settings: { pull_request_check: true } });
  await open(it, 30);
  const refusal = { status: 403, message: "You have exceeded a secondary rate limit" };
  it.github.fail({ ...refusal, operation: CHECK, headers: { "retry-after": "2" } });
  it.github.fail({ ...refusal, operation: "POST /graphql", headers: { "retry-after": "1" } });
  it.github.fail({ status: 429, operation: LIST, headers: { "retry-after": "1" } });
  await it.run();
  await untilWaited(it, () => it.github.world.checkRuns.length === 30);
  await until(async () => (await rows(it.database, "reviews")) === 30);
  expectPatience(it.github, 3);
  expect(it.github.faults()).toEqual([]);
});

test("a limit that is used up is heeded before anything is refused", async () => {
  const it = await scene({
    rateLimit: { limit: 12, windowMs: 3_000 },
    settings: { pull_request_check: true },
  });
  await open(it, 10);
  await it.run();
  await untilWaited(it, () => it.github.world.checkRuns.length === 10);
  expectPatience(it.github, 1);
  expect(it.github.faults()).toEqual([]);
});

test("a wait outlives the process, for every kind of work", async () => {
  const it = await scene({ settings: { pull_request_check: true } });
  await open(it, 3);
  it.github.fail({ status: 429, operation: CHECK, headers: { "retry-after": "3600" } });
  const app = await it.run();
  await until(async () => (await it.database.sql`select 1 from github_waits`).length === 1);
  await app.stop();
  const asked = it.github.calls.length;
  const again = await it.run();
  await until(() => again.lines.join().includes("GitHub confirmed the App"));
  await it.database.sql`update github_tasks set done_at = null, next_attempt_at = null`;
  await Bun.sleep(300);
  const since = it.github.calls.slice(asked).filter((call) => !call.includes("/app"));
  expect(since).toEqual([]);
});

test("a redelivery that GitHub refuses stops no other and is asked for once", async () => {
  const it = await scene();
  const app = await it.run({ redeliver: { everyMs: 50 } });
  for (let n = 0; n < 6; n++)
    await it.github.story.openPullRequest({ repository: it.repository }, { lost: true });
  const attempts = it.github.deliveries.attempts;
  const [stuck] = attempts.filter((one) => one.event === "pull_request");
  if (!stuck) throw new Error("no delivery");
  stuck.stuck = true;
  await until(async () => (await rows(it.database, "pull_requests")) >= 5);
  const REDELIVER = "POST /app/hook/deliveries/{delivery_id}/attempts";
  await until(() => countOf(it.github, "GET /app/hook/deliveries") > 5);
  const refused = await it.database.sql`select delivery_id, status from refused_redeliveries`;
  expect([...refused]).toEqual([{ delivery_id: stuck.guid, status: 422 }]);
  // Five of the six, the refused one, and the installation's own delivery.
  expect(countOf(it.github, REDELIVER)).toBe(7);
  expect(app.lines.filter((line) => line.includes("refuses to send a delivery again"))).toHaveLength(1);
});

test("deliveries of more than three days ago are not asked for", async () => {
  const it = await scene();
  await it.github.story.openPullRequest({ repository: it.repository }, { lost: true });
  for (const one of it.github.deliveries.attempts) one.deliveredAt = new Date(Date.now() - 4 * 86_400_000);
  await it.github.story.openPullRequest({ repository: it.repository }, { lost: true });
  await it.run({ redeliver: { everyMs: 50 } });
  await until(() => countOf(it.github, "GET /app/hook/deliveries") > 3);
  expect(countOf(it.github, "POST /app/hook/deliveries/{delivery_id}/attempts")).toBe(1);
});

test("a token that was taken back is replaced at once", async () => {
  const it = await scene();
  await open(it, 2);
  await it.run({ reconcile: { passMs: 50 } });
  await until(async () => (await rows(it.database, "reviews")) === 2);
  it.github.revokeTokens(it.installation);
  const [pull] = await open(it, 1);
  await until(async () => (await rows(it.database, "reviews")) === 3);
  expect(pull).toBeDefined();
});

test("a permission that is accepted is used at once, though the token in hand lacks it", async () => {
  const it = await scene({ settings: { pull_request_check: true } });
  it.installation.permissions = { metadata: "read", pull_requests: "read" };
  await open(it, 1);
  const app = await it.run();
  await until(() => app.lines.join().includes("missing_permission"));
  expect(it.github.world.checkRuns).toHaveLength(0);
  // The pause after a missing permission ends with the delivery.
  await it.github.story.accept(it.installation, ALL);
  await until(() => it.github.world.checkRuns.length === 1);
});

test("a pass over a repository in which nothing changed costs GitHub nothing", async () => {
  const it = await scene();
  await open(it, 3);
  const app = await it.run({ reconcile: { passMs: 50 } });
  await until(() => app.lines.filter((line) => line.includes("was reconciled")).length > 3);
  const queries = countOf(it.github, "POST /graphql");
  const lists = countOf(it.github, LIST);
  await until(() => countOf(it.github, LIST) > lists + 3);
  expect(countOf(it.github, "POST /graphql")).toBe(queries);
  const last = it.github.story.openPullRequest({ repository: it.repository }, LOST);
  expect((await last).number).toBe(4);
  await until(async () => (await rows(it.database, "pull_requests")) === 4);
});

test("reviews are read in pages, many pull requests to a query, of whoever wrote them", async () => {
  const it = await scene();
  const [first] = await open(it, 60);
  if (!first) throw new Error("no pull request");
  const bot = { id: 5, login: "renovate[bot]", type: "Bot" } as const;
  for (let n = 0; n < 120; n++)
    await it.github.story.submitReview(first, { user: n === 7 ? bot : null }, LOST);
  await it.run();
  await until(async () => (await rows(it.database, "reviews")) === 180);
  expect(countOf(it.github, "POST /graphql")).toBeLessThan(6);
  const [seen] = await it.database
    .sql`select reviewer_login from reviews where reviewer_login like 'renovate%'`;
  expect(seen?.["reviewer_login"]).toBe("renovate[bot]");
  expect(it.github.faults()).toEqual([]);
});

test("writes come one at a time, as far apart as GitHub asks", async () => {
  const it = await scene({ settings: { pull_request_check: true } });
  await open(it, 5);
  await it.run({ writeMs: 200 });
  await until(() => it.github.world.checkRuns.length === 5);
  const times = it.github.patience.writes.get(`installation ${it.installation.id}`) ?? [];
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  // A write waits from the answer before it, so the gap between arrivals cannot shrink; a timer may be a millisecond early.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(199);
});
