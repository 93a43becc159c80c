import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { digests } from "#drizzle/schema/feedback.ts";
import { createFeedbackRound } from "#github-app/feedback/feedback.ts";
import { clientsOf } from "#github-app/github/clients.ts";
import type { Clock } from "#shared/clock.ts";
import type { Digest } from "#shared/digest.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Settings } from "#shared/settings.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { insertRequest, keptLog, testGithubApp, WEBHOOK_SECRET } from "#test/support/github-app.ts";
import { freePort } from "#test/support/ports.ts";
import { casesTried } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";

const PERMISSIONS = { metadata: "read", pull_requests: "write", checks: "write", issues: "write" };
const MAIN = join(import.meta.dir, "../../github-app/main.ts");
const CANARY = "CANARY-71c2";

let skewMs = 0;
const clock: Clock = {
  now: () => new Date(Date.now() + skewMs),
  monotonicMs: () => performance.now() + skewMs,
};

const github = startFakeGithub();
github.app.webhookSecret = WEBHOOK_SECRET;

/** What becomes of a request that makes something: it is passed on; or its answer is lost, by silence or by a 502. */
type Fate = "pass" | "silence" | "502";
let fate: Fate = "pass";
const made: string[] = [];
const between = Bun.serve({
  port: 0,
  idleTimeout: 60,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url);
    const makes = request.method === "POST" && /\/(comments|check-runs|issues)$/.test(pathname);
    const answer = await fetch(`${github.url}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      ...(request.method === "GET" ? {} : { body: await request.text() }),
    });
    if (makes) made.push(pathname);
    if (makes && fate === "silence") await Bun.sleep(30_000);
    if (makes && fate === "502") return Response.json({ message: "Bad gateway" }, { status: 502 });
    return new Response(answer.body, answer);
  },
});

let app: Awaited<ReturnType<typeof testGithubApp>>;
let repository: Repository;
beforeAll(async () => {
  app = await testGithubApp();
  github.deliverTo(`${app.url}/api/github/webhooks`);
  repository = github.story.addRepository("acme/api", { private: true });
  await github.story.install({ repositories: [repository], permissions: PERMISSIONS });
  await app.applied();
});
afterEach(() => {
  fate = "pass";
  expect(github.faults()).toEqual([]);
});
afterAll(async () => {
  await app.close();
  await github.stop();
  await between.stop(true);
});

const identity = {
  apiUrl: `http://127.0.0.1:${between.port}`,
  app: { id: github.app.id, privateKey: github.app.privateKey },
};
const { log, lines } = keptLog();

/** The feedback of one App; each call does one round. */
const jobs = (signal?: AbortSignal) => {
  const clients = clientsOf(identity, { clock, writeMs: 0, ...(signal && { signal }) });
  return createFeedbackRound({ database: app.database, clock, log, clients: () => clients });
};

async function set(settings: Partial<Settings>): Promise<void> {
  const { sql } = app.database;
  await sql`update settings set value = ${sql.json({ pull_request_stamping: true, ...settings })}`;
}

/** Does what is due, some time later. */
async function round(laterMs = 0, who = jobs()): Promise<void> {
  skewMs += laterMs;
  await who(() => false);
}

/** In so many seconds from now, as GitHub writes it: later than anything that has happened to a pull request yet. */
const inSeconds = (seconds: number): string =>
  new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, "");

async function open(body: string | null): Promise<PullRequest> {
  const it = await github.story.openPullRequest({ repository, body, title: CANARY });
  await app.applied();
  return it;
}

async function merged(body: string): Promise<PullRequest> {
  const it = await open(body);
  await github.story.merge(it);
  await app.applied();
  return it;
}

/** Calls of a session are told apart by their time, so no two have the same. */
let calls = 0;
async function call(session: string, costUsd: string | null, channel = "api"): Promise<void> {
  const { sql } = app.database;
  calls += 1;
  const before = new Date(clock.now().getTime() - 1_000 + calls).toISOString();
  await insertRequest(app.database, session, before);
  await sql`
    update requests set cost_usd = ${costUsd}, channel = ${channel}
    where org_id = ${DEFAULT_ORG} and session = ${session} and started_at = ${before}::timestamptz`;
}

const checksOf = (it: PullRequest) =>
  github.world.checkRuns.filter((run) => it.commits.some(({ sha }) => sha === run.headSha));
const commentsOf = (it: PullRequest) =>
  github.world.comments.filter((one) => one.repository === it.repository && one.number === it.number);
const MINUTE_MS = 60_000;

describe("while nothing is switched on", () => {
  test("GitHub is asked for the commits of merges and nothing else", async () => {
    await set({});
    await call("off-1", "1");
    const it = await merged("Gateway-Session: off-1");
    github.calls.length = 0;
    await round();
    expect(new Set(github.calls.filter((one) => !one.includes("access_tokens")))).toEqual(
      new Set(["GET /repos/{owner}/{repo}/pulls/{pull_number}/commits"]),
    );
    expect([...checksOf(it), ...commentsOf(it)]).toEqual([]);
  });
});

describe("the check run", () => {
  test("says what is wrong with the stamp and what to do, and is edited in place", async () => {
    await set({ pull_request_check: true });
    await call("check-1", "1");
    const it = await open(`${CANARY}\n- Gateway-Session: check-1`);
    await round();
    const [run] = checksOf(it);
    expect(run).toMatchObject({ name: "Gateway-Session", conclusion: "neutral", status: "completed" });
    expect(run?.output.title).toBe("Not stamped");
    expect(run?.output.summary).toContain("Add the line `Gateway-Session: <session id>`");
    expect(run?.output.summary).toContain("starts with something else");

    await github.story.editBody(it, "Gateway-Session: check-1\nGateway-Session: other", {
      at: inSeconds(1),
    });
    await app.applied();
    await round();
    expect(checksOf(it).map(({ output }) => output.title)).toEqual(["2 different sessions"]);

    await github.story.editBody(it, "Gateway-Session: check-late", { at: inSeconds(2) });
    await app.applied();
    await round();
    expect(checksOf(it).map(({ output }) => output.title)).toEqual(["Unknown session"]);
    await call("check-late", "1");
    await round();
    expect(checksOf(it)).toHaveLength(1);
    expect(checksOf(it)[0]).toMatchObject({ id: run?.id, conclusion: "success" });
    expect(checksOf(it)[0]?.output.title).toBe("Stamped");
  });

  test("shows the split of a shared session and a lower bound in the comment's words, within an hour", async () => {
    await set({ pull_request_check: true, pull_request_comment: true });
    await call("check-shared", "1");
    const first = await merged("Gateway-Session: check-shared");
    const second = await open("Gateway-Session: check-shared");
    await round();
    const summary = () => checksOf(second)[0]?.output.summary;
    const alone = "The description names session `check-shared`, and calls of it are recorded.";
    const whole = "Each of them shows its whole cost, which reports count once.";
    expect(summary()).toBe(
      `${alone}\n\nThis pull request and 1 merged pull request name this session. ${whole}`,
    );
    expect(checksOf(first)[0]?.output.summary).toBe(alone);

    github.calls.length = 0;
    await round(61 * MINUTE_MS);
    expect(github.calls.filter((one) => one.includes("check-runs"))).toEqual([]);

    await app.database.sql`
      insert into session_contexts (org_id, session, declarer, repository, branch, key_id, client, declared_at)
      select org_id, session, coalesce(lower(owner), key_id::text), 'acme/api', 'aside', key_id, 'test', started_at
      from requests where session = 'check-shared'`;
    await call("check-shared", null);
    await round(2 * MINUTE_MS);
    expect(summary()).toEndWith(whole);
    await round(61 * MINUTE_MS);
    expect(summary()).toContain("name this session. Each of them costs the calls that worked on its branch.");
    const [, , ...notes] = summary()?.split("\n\n") ?? [];
    expect(notes).toEqual([expect.stringContaining("lower bound")]);
    await github.story.merge(second);
    await app.applied();
    await round(61 * MINUTE_MS);
    const [, ...inCheck] = summary()?.split("\n\n") ?? [];
    expect(inCheck[0]).toContain("2 merged pull requests name this session.");
    expect(inCheck).toHaveLength(2);
    for (const note of inCheck) expect(commentsOf(second)[0]?.body).toContain(note);

    await call("check-plan", "3", "subscription");
    const plan = await open("Gateway-Session: check-plan");
    await round();
    expect(checksOf(plan)[0]?.output.summary).toBe(alone.replace("shared", "plan"));
  });

  test("follows the head: a push gets a run of its own, and nothing is sent when nothing changed", async () => {
    await set({ pull_request_check: true });
    const it = await open("Gateway-Session: check-1");
    await round();
    await github.story.push(it, { sha: "e".repeat(40), message: "More" }, { at: inSeconds(3) });
    await app.applied();
    await round();
    expect(checksOf(it).map(({ headSha }) => headSha)).toEqual([it.commits[0]?.sha ?? "", "e".repeat(40)]);
    await github.story.submitReview(it, { body: "Fine." });
    await app.applied();
    github.calls.length = 0;
    await round();
    expect(github.calls).toEqual([]);
  });
});

describe("the comment", () => {
  test("tells the cost of a merge, is edited when it changes, and tells no text", async () => {
    await set({ pull_request_comment: true });
    await call("comment-1", "1.25");
    await call("comment-1", "7", "subscription");
    const it = await merged(`${CANARY}\nGateway-Session: comment-1`);
    await round();
    expect(commentsOf(it).map(({ body }) => body)).toEqual([
      "<!-- tallygate:pull-request-cost -->\n**AI cost of this pull request: $1.25** (2 calls of session `comment-1`)",
    ]);
    await call("comment-1", null);
    await round(2 * MINUTE_MS);
    expect(commentsOf(it)).toHaveLength(1);
    expect(commentsOf(it)[0]?.body).toContain("at least $1.25** (3 calls");
    await round(2 * MINUTE_MS);
    expect(commentsOf(it)).toHaveLength(1);

    await github.story.editBody(it, "No stamp any more.");
    await app.applied();
    await round(2 * MINUTE_MS);
    expect(commentsOf(it).map(({ body }) => body)).toEqual([
      expect.stringContaining("not known: its description no longer names a session"),
    ]);
  });

  test("waits for a late session, says that a session is shared, and leaves what is not joined alone", async () => {
    await set({ pull_request_comment: true });
    const late = await merged("Gateway-Session: comment-late");
    const none = await merged("No stamp.");
    await round();
    expect([...commentsOf(late), ...commentsOf(none)]).toEqual([]);
    await call("comment-late", "0.5");
    await joined(late);
    const second = await merged("Gateway-Session: comment-late");
    await round(2 * MINUTE_MS);
    for (const it of [late, second]) {
      expect(commentsOf(it)).toHaveLength(1);
      expect(commentsOf(it)[0]?.body).toContain("2 merged pull requests name this session.");
    }
    expect(commentsOf(none)).toEqual([]);
  });

  test("of the past is not made: only merges of the last day are commented on", async () => {
    await set({});
    await call("comment-old", "1");
    const it = await open("Gateway-Session: comment-old");
    await github.story.merge(it, {
      at: `${new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 19)}Z`,
    });
    await app.applied();
    await set({ pull_request_comment: true });
    await round();
    expect(commentsOf(it)).toEqual([]);
  });

  test("that somebody deleted is not made again", async () => {
    await set({ pull_request_comment: true });
    await call("comment-gone", "1");
    const it = await merged("Gateway-Session: comment-gone");
    await round();
    github.world.comments.splice(github.world.comments.indexOf(commentsOf(it)[0] as never), 1);
    await call("comment-gone", "1");
    await round(2 * MINUTE_MS);
    expect(commentsOf(it)).toEqual([]);
  });
});

async function linkOf(it: PullRequest): Promise<string> {
  const [row] = await app.database.sql`
    select link from pull_requests where repository_id = ${it.repository.id} and number = ${it.number}`;
  return row?.["link"];
}

describe("never twice", () => {
  test("two Apps at once show one of each", async () => {
    await set({ pull_request_check: true, pull_request_comment: true });
    await call("two-1", "1");
    const all = [];
    for (let count = 0; count < 2; count++) all.push(await merged("Gateway-Session: two-1"));
    const [one, two] = [jobs(), jobs()];
    await Promise.all([round(0, one), round(0, two), round(0, one), round(0, two)]);
    for (const it of all) {
      expect(commentsOf(it)).toHaveLength(1);
      expect(checksOf(it)).toHaveLength(1);
    }
  });

  test("an answer that is lost is not asked for again by making another", async () => {
    await set({ pull_request_check: true, pull_request_comment: true });
    await call("lost-1", "1");
    const it = await merged("Gateway-Session: lost-1");
    made.length = 0;
    fate = "502";
    await round();
    expect(made).toHaveLength(2);
    fate = "pass";
    await round(10 * MINUTE_MS);
    expect([commentsOf(it).length, checksOf(it).length]).toEqual([1, 1]);
    expect(made).toHaveLength(2);
    const rows = await app.database.sql`
      select kind, remote_id, failure from github_feedback where number = ${it.number} order by kind`;
    expect(rows.map((row) => [row["kind"], Number(row["remote_id"]), row["failure"]])).toEqual([
      ["check", checksOf(it)[0]?.id, null],
      ["comment", commentsOf(it)[0]?.id, null],
    ]);
  });

  test("an App that is killed while it makes one leaves no second to the next", async () => {
    await set({ pull_request_comment: true });
    await call("killed-1", "1");
    const it = await merged("Gateway-Session: killed-1");
    fate = "silence";
    made.length = 0;
    const first = start();
    await until(() => made.length > 0);
    expect(made).toHaveLength(1);
    first.kill("SIGKILL");
    await first.exited;
    fate = "pass";
    // As if the time in which the dead process may have had it in hand had passed.
    await app.database.sql`update github_feedback set leased_until = now() - interval '1 second'`;
    const [second, third] = [start(), start()];
    await until(async () => {
      const [row] = await app.database.sql`
        select remote_id from github_feedback where kind = 'comment' and number = ${it.number}`;
      return row?.["remote_id"];
    });
    for (const one of [second, third]) one.kill("SIGTERM");
    await Promise.all([second.exited, third.exited]);
    expect(made).toHaveLength(1);
    expect(commentsOf(it)).toHaveLength(1);
  });
});

/** The real process. */
function start() {
  const env = {
    PATH: "/usr/bin:/bin",
    DATABASE_URL: app.databaseUrl,
    GITHUB_APP_PORT: String(freePort()),
    WEBHOOK_SECRET,
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    GHE_HOST: `127.0.0.1:${between.port}`,
    GHE_PROTOCOL: "http",
  };
  return Bun.spawn([process.execPath, MAIN], { env, stdio: ["ignore", "ignore", "inherit"] });
}

describe("the weekly digest", () => {
  const figures = {
    merged_prs: 2,
    joined_prs: 1,
    reverted_prs: 0,
    cost_usd: 3,
    cost_per_merged_pr: 1.5,
    reverted_cost_usd: 0,
    lower_bound: true,
  };
  const content: Digest = {
    period: { from: "2026-11-16T00:00:00.000Z", to: "2026-11-23T00:00:00.000Z" },
    previous_period: { from: "2026-11-09T00:00:00.000Z", to: "2026-11-16T00:00:00.000Z" },
    total: { current: figures, previous: null },
    not_joined: { no_stamp: 1, conflict: 0, unknown_session: 0, claimed: 0 },
    repositories: [{ repository: "acme/api", current: figures, previous: null }],
    repositories_left_out: 0,
    spend: null,
  };
  const keep = async (dueOn: string) => {
    await app.database.sql`truncate digests`;
    await app.database.db.insert(digests).values({
      dueOn,
      channel: "issue",
      dueAt: `${dueOn}T07:00:00.000Z`,
      state: "waiting",
      deliveryId: Bun.randomUUIDv7(),
      content,
    });
  };
  const row = async () => (await app.database.sql`select state, remote_id, failure from digests`)[0];

  test("is one issue, whoever writes it and whatever answer is lost", async () => {
    await set({ digest_repository: "Acme/API" });
    await keep("2026-11-23");
    made.length = 0;
    fate = "502";
    await Promise.all([jobs(), jobs()].map((it) => round(0, it)));
    expect((await row())?.["state"]).toBe("waiting");
    fate = "pass";
    await Promise.all([jobs(), jobs()].map((it) => round(10 * MINUTE_MS, it)));
    await round(MINUTE_MS);
    expect(made.filter((path) => path.endsWith("/issues"))).toHaveLength(1);
    const [issue, ...others] = [...github.world.issues.values()];
    expect(others).toEqual([]);
    expect(issue?.title).toBe("AI cost of merged pull requests, 16 November 2026 to 22 November 2026");
    expect(issue?.body).toStartWith("<!-- tallygate:digest 2026-11-23 -->\n- Merged pull requests: **2**");
    const written = await row();
    expect([written?.["state"], Number(written?.["remote_id"])]).toEqual(["sent", issue?.number ?? 0]);
  });

  test("waits where the App is not installed, and says so", async () => {
    await set({ digest_repository: "acme/elsewhere" });
    await keep("2026-11-30");
    await round();
    expect(await row()).toMatchObject({ state: "waiting", failure: "not installed in the repository" });
  });
});

/** What happens between two rounds; `killed` is an App that dies while it makes something. */
type Step =
  | { kind: "round"; laterMs: number; fate: Fate; apps: 1 | 2 }
  | { kind: "call" | "edit" | "push" | "merge"; which: number };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("round" as const),
    laterMs: fc.constantFrom(0, 1000, 40_000, 2 * MINUTE_MS, 20 * MINUTE_MS),
    fate: fc.constantFrom<Fate>("pass", "pass", "502", "silence"),
    apps: fc.constantFrom<1 | 2>(1, 2),
  }),
  fc.record({ kind: fc.constantFrom("call", "edit", "push", "merge"), which: fc.nat({ max: 1 }) }),
);

test("whatever happens in whatever order, nothing is shown twice, and in the end all of it is right", async () => {
  await set({ pull_request_check: true, pull_request_comment: true });
  let runs = 0;
  const play = async (steps: readonly Step[]) => {
    const session = `schedule-${runs++}`;
    const pulls = [await open(`Gateway-Session: ${session}`), await open("No stamp.")];
    const dead: Promise<void>[] = [];
    let pushes = 0;
    let edits = 0;
    const at = () => new Date(clock.now().getTime() + 1000 * ++edits).toISOString().replace(/\.\d+Z/, "Z");
    for (const step of steps) {
      const it = pulls["which" in step ? step.which : 0];
      if (!it) throw new Error("no pull request");
      if (step.kind === "round") {
        fate = step.fate;
        const ending = new AbortController();
        const rounds = Array.from({ length: step.apps }, () => round(step.laterMs, jobs(ending.signal)));
        // One that waits for an answer for ever is one that has died: what it has in hand stays so for its time.
        await Promise.race([Promise.all(rounds), Bun.sleep(step.fate === "silence" ? 300 : 30_000)]);
        ending.abort();
        dead.push(...rounds);
        fate = "pass";
      } else if (step.kind === "call") await call(session, "0.25");
      else if (step.kind === "push")
        await github.story.push(it, { sha: sha(`${session} ${pushes++}`), message: "x" }, { at: at() });
      else if (step.kind === "edit" && it.mergedAt === null)
        await github.story.editBody(it, `${edits}\nGateway-Session: ${session}`, { at: at() });
      else if (step.kind === "merge" && it.mergedAt === null) await github.story.merge(it, { at: at() });
      await app.applied();
      for (const one of pulls) expectOnce(one);
    }
    await Promise.all(dead);
    await call(session, "0.25");
    await app.applied();
    for (const one of pulls) if (one.body?.includes(session) && one.mergedAt) await joined(one);
    for (let again = 0; again < 3; again++) await round(40 * MINUTE_MS);
    for (const one of pulls) {
      expectOnce(one);
      const stamped = one.body?.includes(session);
      const [last] = checksOf(one).filter(({ headSha }) => headSha === one.headSha);
      expect(last?.output.title).toBe(stamped ? "Stamped" : "Not stamped");
      expect(commentsOf(one)).toHaveLength(stamped && one.mergedAt !== null ? 1 : 0);
    }
    for (const one of pulls) {
      const [comment] = commentsOf(one);
      const [{ usd } = { usd: "" }] = await app.database.sql<{ usd: string }[]>`
        select sum(cost_usd)::numeric(9, 2)::text as usd from requests where session = ${session}`;
      if (comment) expect(comment.body).toContain(`: $${usd}**`);
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(STEP, { minLength: 3, maxLength: 14 }), play), {
    numRuns: Number(process.env["FEEDBACK_RUNS"] ?? casesTried(3, 12)),
  });
}, 3_600_000);

const sha = (text: string) => new Bun.CryptoHasher("sha1").update(text).digest("hex");

function expectOnce(it: PullRequest): void {
  expect(commentsOf(it).length).toBeLessThanOrEqual(1);
  const heads = checksOf(it).map(({ headSha }) => headSha);
  expect(heads.length).toBe(new Set(heads).size);
}

const joined = (it: PullRequest) => until(async () => (await linkOf(it)) === "joined");

test("a permission that is missing is said once, and left alone for a while", async () => {
  await set({ pull_request_check: true });
  const [installation] = github.world.installations;
  if (!installation) throw new Error("no installation");
  installation.permissions = { metadata: "read", pull_requests: "read" };
  await open("a");
  await open("b");
  lines.length = 0;
  const one = jobs();
  await round(0, one);
  await round(0, one);
  expect(lines.filter((line) => line.includes("a request to GitHub failed"))).toHaveLength(1);
  installation.permissions = PERMISSIONS;
});

test("an account that withholds a permission does not keep others from their feedback", async () => {
  await set({ pull_request_check: true });
  const withheld = github.story.addRepository("withheld/api", { private: true });
  const permissions = { metadata: "read", pull_requests: "read" };
  await github.story.install({ repositories: [withheld], permissions });
  const it = await open("a");
  for (let n = 0; n < 21; n++) await github.story.openPullRequest({ repository: withheld, body: "b" });
  await app.applied();
  await app.database.sql`update pull_requests set body_at = now() + interval '1 minute'
    where repository_id = ${withheld.id}`;
  await round();
  expect(checksOf(it)).toHaveLength(1);
});

test("reverts that only commits tell of are found, once the commits are read", async () => {
  await set({});
  const original = await merged("No stamp.");
  const it = await github.story.openPullRequest({
    repository,
    title: "Fix the build",
    commits: [{ sha: "f".repeat(40), message: `Undo\n\nThis reverts commit ${original.mergeCommitSha}.` }],
  });
  await github.story.merge(it);
  await app.applied();
  await round(2 * MINUTE_MS);
  const [row] = await app.database.sql`
    select claims, read_at from pull_request_commits where number = ${it.number}`;
  expect(row?.["claims"]).toEqual([{ commit: "f".repeat(40), reverts: original.mergeCommitSha }]);
  expect(row?.["read_at"]).not.toBeNull();
});

test("no text of a pull request is in what is shown, stored or logged", async () => {
  const { comments, checkRuns } = github.world;
  expect(comments.length + checkRuns.length).toBeGreaterThan(10);
  expect(
    JSON.stringify([comments.map(({ body }) => body), checkRuns.map(({ output }) => output)]),
  ).not.toContain(CANARY);
  for (const table of ["github_feedback", "pull_request_commits"]) {
    const { sql } = app.database;
    const [found] =
      await sql`select count(*)::int as rows from ${sql(table)} as t where t::text like ${`%${CANARY}%`}`;
    expect(found?.["rows"]).toBe(0);
  }
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
});
