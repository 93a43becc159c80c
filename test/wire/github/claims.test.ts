import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "#drizzle/database.ts";
import type { PullRequestPage } from "#shared/admin/pull-requests.ts";
import type { Result } from "#shared/report.ts";
import type { Settings } from "#shared/settings.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { type LocalGateway, localGateway } from "#test/support/local-gateway.ts";
import { runGithubApp, stampingDatabase } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";

const ALL = { metadata: "read", pull_requests: "write", checks: "write", issues: "write" };
const dataDir = mkdtempSync(join(tmpdir(), "tallygate-claims-"));
const SWITCHES = { pull_request_check: true, pull_request_comment: true };

let gateway: LocalGateway;
let github: FakeGithub;
let database: Database;
let app: Awaited<ReturnType<typeof runGithubApp>>;
let open: Repository;
let secret: string;

beforeAll(async () => {
  gateway = await localGateway({ dataDir });
  github = startFakeGithub();
  github.app.permissions = ALL;
  database = await stampingDatabase(gateway.databaseUrl, SWITCHES);
  app = await runGithubApp(github, gateway.databaseUrl);
  github.deliverTo(app.webhooks);
  open = github.story.addRepository("acme/open");
  await github.story.install({ repositories: [open], permissions: ALL });
  secret = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "k", owner: "ada" })).secret;
});
afterAll(async () => {
  await app.stop();
  await database.close();
  await github.stop();
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function call(session: string, key = secret): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-session-id": session },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] }),
  });
  await answer.text();
  expect(answer.status).toBe(200);
}

const fork = () => github.story.addRepository(`someone/${crypto.randomUUID().slice(0, 6)}`);
const stranger = { id: 40, login: "mallory", type: "User" } as const;

async function fromFork(session: string, values: object = {}): Promise<PullRequest> {
  return await github.story.openPullRequest({
    ...{ repository: open, body: `Gateway-Session: ${session}`, headRepository: fork() },
    ...{ user: stranger, authorAssociation: "NONE", ...values },
  });
}

const pageOf = (it: PullRequest) =>
  gateway.admin<PullRequestPage>("GET", `/pull-requests/${it.repository.id}-${it.number}`);
/** Null: nothing of it was applied yet. */
const linkOf = async (it: PullRequest): Promise<string | null> => {
  const path = `/pull-requests?repository=acme/open&limit=200`;
  const { data } = await gateway.admin<{ data: { number: number; link: string }[] }>("GET", path);
  return data.find(({ number }) => number === it.number)?.link ?? null;
};
const set = (settings: Partial<Settings>) => gateway.admin("PATCH", "/settings", settings);
const checkOf = (it: PullRequest) => github.world.checkRuns.find((run) => run.headSha === it.headSha);
const commentsOf = (it: PullRequest) =>
  github.world.comments.filter((one) => one.repository === it.repository && one.number === it.number);

async function joinedMerges() {
  const spec = {
    source: "outcomes",
    dimensions: [],
    measures: ["merged_prs", "joined_prs", "cost_usd"],
    filters: {},
    range: "7d",
    compare: "none",
    view: "table",
  };
  const { total } = await gateway.admin<Result>("POST", "/../../v1/reports/query", { spec });
  const figures = total.current as Record<string, number | null>;
  return { merged: figures["merged_prs"], joined: figures["joined_prs"], usd: figures["cost_usd"] };
}

test("an outsider who names somebody's session claims it: it counts as a merge, and no cost is joined", async () => {
  await call("ada-1");
  const it = await fromFork("ada-1");
  await github.story.merge(it);
  await until(async () => (await linkOf(it)) === "claimed");
  const page = await pageOf(it);
  expect(page).toMatchObject({
    author: "mallory",
    session_owners: ["ada"],
    session_cost_usd: null,
    settled: false,
  });
  expect(page.remedy).toContain("/accept");
  expect(await joinedMerges()).toEqual({ merged: 1, joined: 0, usd: null });
  expect(commentsOf(it)).toEqual([]);

  // A session that is not known yet is no way around it.
  const early = await fromFork("ada-late");
  await github.story.merge(early);
  await call("ada-late");
  await until(async () => (await linkOf(early)) === "claimed");
  expect((await joinedMerges()).joined).toBe(0);
});

/** Declares something of a session in the name of its owner. */
async function declare(what: "links" | "contexts", body: object): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/sessions/${what}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBeLessThan(300);
}

test("a pull request from outside changes nothing of what the merges cost whose sessions it names", async () => {
  for (const session of ["branch-1", "linked-1", "agent-1"]) await call(session);
  await declare("contexts", { session: "branch-1", branch: "feature", repository: "acme/open" });
  await declare("links", { session: "agent-1", of: "linked-1", task: "x" });
  // A stretch that no context covers, of another person's key.
  const ofBob = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "b", owner: "bob" });
  await call("branch-1", ofBob.secret);
  const open = (session: string, headRef: string) =>
    fromFork(session, { authorAssociation: "MEMBER", headRef });
  const merges = [await open("branch-1", "feature"), await open("linked-1", "other")];
  for (const it of merges) await github.story.merge(it);
  const figures = async () => {
    const pages = await Promise.all(merges.map(pageOf));
    return pages.map(({ link, session_requests, session_cost_is_lower_bound: floor, findings }) => [
      ...[link, session_requests, floor, findings.map(({ code }) => code)],
    ]);
  };
  await until(async () => (await linkOf(merges[1] as PullRequest)) === "joined");
  const wanted = [
    ["joined", 2, false, ["session_of_several_keys"]],
    ["joined", 2, false, []],
  ];
  expect(await figures()).toEqual(wanted);
  const before = await joinedMerges();
  const outside = [await fromFork("branch-1", { headRef: "feature" }), await fromFork("agent-1")];
  for (const it of outside) await until(async () => (await linkOf(it)) === "open");
  expect(await figures()).toEqual(wanted);
  for (const it of outside) await github.story.merge(it);
  for (const it of outside) await until(async () => (await linkOf(it)) === "claimed");
  expect(await figures()).toEqual(wanted);
  expect(await joinedMerges()).toEqual({ ...before, merged: before.merged! + 2 });
});

test("the owner of its key is known by the GitHub account that is linked to the person, too", async () => {
  const owner = "carol@example.com";
  await gateway.admin("POST", "/people", { email: owner, github_login: "Carol-Codes" });
  await call(
    "carol-1",
    (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "c", owner })).secret,
  );
  const own = await fromFork("carol-1", { user: { id: 42, login: "carol-codes", type: "User" } });
  await github.story.merge(own);
  await until(async () => (await linkOf(own)) === "joined");
});

test("the owner of its key is known by the private e-mail address of the account, and no part of a login is it", async () => {
  const owner = "7+Grace@users.noreply.github.com";
  const key = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "g", owner });
  await call("grace-1", key.secret);
  const by = (id: number, login: string) => fromFork("grace-1", { user: { id, login, type: "User" } });
  const [own, other] = [await by(43, "grace"), await by(44, "race")];
  for (const it of [own, other]) await github.story.merge(it);
  await until(async () => (await linkOf(own)) === "joined");
  await until(async () => (await linkOf(other)) === "claimed");
});

test("his own session is joined, as is that of a member", async () => {
  await call("ada-2");
  const own = await fromFork("ada-2", { user: { id: 41, login: "Ada", type: "User" } });
  await github.story.merge(own);
  await until(async () => (await linkOf(own)) === "joined");
  const member = await fromFork("ada-2", { authorAssociation: "MEMBER" });
  await github.story.merge(member);
  await until(async () => (await linkOf(member)) === "joined");
});

test("an administrator accepts a claim once, which is audited, and it stays accepted", async () => {
  await call("ada-3");
  const it = await fromFork("ada-3");
  await github.story.merge(it);
  await until(async () => (await linkOf(it)) === "claimed");
  const path = `/pull-requests/${it.repository.id}-${it.number}/accept`;
  expect(await gateway.admin("POST", path)).toMatchObject({ link: "joined", remedy: null });
  const [entry] = (
    await gateway.admin<{ data: { subject: string; before: object }[] }>(
      "GET",
      "/audit?action=pull_request.claim_accepted",
    )
  ).data;
  expect(entry?.before).toMatchObject({ author: "mallory", session: "ada-3", link: "claimed" });
  await github.story.editBody(it, "Gateway-Session: ada-3\n\nMore.");
  await until(async () => (await pageOf(it)).edited_after_merge);
  await until(async () => (await linkOf(it)) === "joined");
  await expect(gateway.admin("POST", path)).rejects.toThrow();
  // Another session is another claim.
  await call("ada-4");
  await github.story.editBody(it, "Gateway-Session: ada-4", { at: inSeconds(2) });
  await until(async () => (await linkOf(it)) === "claimed");
});

const inSeconds = (seconds: number): string =>
  new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+/, "");

test("in public nothing is said of sessions and costs, unless the repository is named", async () => {
  await call("ada-5");
  const it = await github.story.openPullRequest({ repository: open, body: "Gateway-Session: ada-5" });
  await until(() => checkOf(it)?.output.title === "Names a session");
  await github.story.merge(it);
  await until(async () => (await linkOf(it)) === "joined");
  await set({ feedback_include: ["acme/*"], feedback_exclude: ["ACME/open"] });
  const quiet = await github.story.openPullRequest({ repository: open, body: "No session." });
  await set({ feedback_exclude: [] });
  await until(() => checkOf(it)?.output.title === "Stamped");
  await until(() => checkOf(quiet)?.output.title === "Not stamped");
  await until(() => commentsOf(it).length === 1);
  // Of a claim there is no verdict there either.
  const claim = await fromFork("ada-5");
  await until(() => checkOf(claim)?.output.title === "Names a session");
});

test("bots may be left out of what is not stamped", async () => {
  await set({ not_stamped_bots: false });
  const user = { id: 5, login: "renovate[bot]", type: "Bot" } as const;
  const bot = await github.story.openPullRequest({ repository: open, body: "Update.", user });
  const human = await github.story.openPullRequest({ repository: open, body: "Change." });
  await until(() => checkOf(human)?.output.title === "Not stamped");
  expect(checkOf(bot)).toBeUndefined();
});

test("what is switched off ends with the next pull request, not with the next round", async () => {
  await set({ pull_request_check: false });
  const pulls = await Promise.all(
    Array.from({ length: 12 }, () => github.story.openPullRequest({ repository: open, body: "x" })),
  );
  const shown = () => pulls.filter((it) => checkOf(it) !== undefined).length;
  github.onCall("POST /repos/{owner}/{repo}/check-runs", () => set({ pull_request_check: false }));
  await set({ pull_request_check: true });
  await until(() => shown() > 0);
  await Bun.sleep(500);
  expect(shown()).toBe(1);
  github.onCall("POST /repos/{owner}/{repo}/check-runs", null);
});

test("a locked pull request is asked for once", async () => {
  await call("ada-6");
  const it = await github.story.openPullRequest({ repository: open, body: "Gateway-Session: ada-6" });
  it.locked = true;
  await github.story.merge(it);
  await until(async () => (await linkOf(it)) === "joined");
  const failure = async () =>
    (await pageOf(it)).shown_at_github.find(({ kind }) => kind === "comment")?.failure;
  await until(async () => (await failure()) === "locked");
  const asked = () =>
    github.calls.filter((one) => one.startsWith("POST") && one.endsWith("/comments")).length;
  const before = asked();
  await database.sql`update github_feedback set attempts = attempts where kind = 'comment'`;
  await Bun.sleep(500);
  expect(asked()).toBe(before);
});

test("what an installation has not accepted is named in the API and the log", async () => {
  const [installation] = github.world.installations;
  if (!installation) throw new Error("no installation");
  await set({ pull_request_check: true, digest_repository: "acme/open" });
  await github.story.accept(installation, { metadata: "read", pull_requests: "write" });
  const missing = async () =>
    (
      await gateway.admin<{ data: { name: string; missing_permissions: string[] }[] }>("GET", "/repositories")
    ).data.find(({ name }) => name === "acme/open")?.missing_permissions;
  await until(async () => (await missing())?.length === 2);
  expect(await missing()).toEqual(["checks: write", "issues: write"]);
  await until(() =>
    app.lines.some((line) => line.includes("has not accepted") && line.includes("checks: write")),
  );
  expect(github.faults()).toEqual([]);
});
