import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import type { ReportPayload } from "#shared/report-payload.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { localGithubApp } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Several sessions of agents on one branch, without the wrapper `run`: the merge costs what all of them cost, or says
// that it costs more. test/agents/sessions.test.ts has Claude Code itself.

const WEBHOOK_SECRET = "a secret of more than sixteen characters";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let ada: Developer;
let secret: string;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: "Done.", usage: { input_tokens: 210, output_tokens: 12 } });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  secret = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada", owner: "ada@example.com" })
  ).secret;
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await localGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
  ada = await developer(github, repository.fullName, { gh: true });
});

afterAll(() => vendor.stop());

async function costOf(sessions: readonly string[]): Promise<number> {
  let cost = 0;
  await until(async () => {
    const [row] = await gateway.sql<{ cost: string | null; sessions: number }[]>`
      select sum(cost_usd)::text as cost, count(distinct session)::int as sessions
      from requests where session = any(${[...sessions]})`;
    cost = Number(row?.cost);
    return row?.sessions === sessions.length;
  });
  return cost;
}

const pageOf = ({ number }: PullRequest) =>
  gateway.admin<{ session_cost_usd: string; session_cost_is_lower_bound: boolean; session_requests: number }>(
    "GET",
    `/pull-requests/${repository.id}-${number}`,
  );

async function mergedCost() {
  const words = ["report", "cost-per-merged-pr", "--json"];
  const { out } = await ada.tallygate(words, { ADMIN_KEY, TALLYGATE_URL: gateway.url });
  const payload: ReportPayload = JSON.parse(out);
  return payload.reports[0]?.result?.total;
}

const merge = async (request: PullRequest) => {
  await github.story.merge(request);
  await until(async () => {
    const [row] = await gateway.sql`select link from pull_requests where number = ${request.number}`;
    return row?.["link"] === "joined";
  });
};

const link = (body: object, key = secret) =>
  fetch(`${gateway.url}/v1/sessions/links`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function call(headers: Record<string, string>, key = secret): Promise<void> {
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "claude", max_tokens: 8, messages: [{ role: "user", content: "hi" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}

test("three sessions that work on one branch, the last after the pull request, are its whole cost", async () => {
  const [first = "", second = "", third = ""] = ["agent-1", "agent-2", "agent-3"];
  const agent = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: secret };
  /** A session makes one call and runs one command, after which its hook runs. */
  const work = async (session: string, command: string) => {
    await call({ "x-claude-code-session-id": session });
    expect((await ada.run(["sh", "-c", command], agent)).code).toBe(0);
    const input = { session_id: session, cwd: ada.work, tool_name: "Bash", tool_input: { command } };
    expect(await ada.hook(JSON.stringify(input), agent)).toMatchObject({ code: 0 });
  };
  await work(first, "git checkout -q -b plain && git commit -q --allow-empty -m one");
  const open = 'git push -q origin plain && gh pr create --title plain --body "A thing."';
  await work(second, `git commit -q --allow-empty -m two && ${open}`);
  const request = [...github.world.pullRequests.values()].at(-1) as PullRequest;
  expect(request.body).toBe(`A thing.\n\nGateway-Session: ${first}`);
  await work(third, "git commit -q --allow-empty -m review && git push -q origin plain");
  await merge(request);
  const all = await costOf([first, second, third]);
  const page = await pageOf(request);
  expect(page.session_cost_is_lower_bound).toBe(false);
  expect(Number(page.session_cost_usd)).toBeCloseTo(all, 12);
  const total = await mergedCost();
  expect(total?.current).toMatchObject({ merged_prs: 1, joined_prs: 1 });
  expect(Number(total?.current?.cost_usd)).toBeCloseTo(all, 12);
  const links =
    await gateway.sql`select session, of_session, task, counts, repository, branch from session_links where counts order by 1`;
  expect([...links]).toEqual(
    [second, third].map((session) => ({
      ...{ session, of_session: first, task: "plain", counts: true },
      ...{ repository: "octo-org/shop", branch: "plain" },
    })),
  );
});

test("a colleague's clone of the branch, with a session of its own, is part of the cost", async () => {
  const eve = await developer(github, repository.fullName, { gh: true });
  // A clone shares its commits with ada's, not its settings.
  const address = await ada.git("config", "--get-regexp", "pushinsteadof$");
  await eve.git("config", "--local", ...(address.split(" ") as [string, string]));
  const key = await gateway.admin<{ secret: string }>("POST", "/keys", {
    name: "mel",
    owner: "mel@example.com",
  });
  const work = async (it: Developer, own: string, session: string, command: string) => {
    await call({ "x-claude-code-session-id": session }, own);
    const agent = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: own };
    expect((await it.run(["sh", "-c", command], agent)).code).toBe(0);
    const input = { session_id: session, cwd: it.work, tool_name: "Bash", tool_input: { command } };
    return await it.hook(JSON.stringify(input), agent);
  };
  const commit = "git commit -q --allow-empty -m work";
  const push = "git push -q --force origin both";
  const open = `${push} && gh pr create --title both --body "A thing."`;
  await work(eve, key.secret, "mel-1", `git checkout -q -b both && ${commit}`);
  expect(
    await work(ada, secret, "ada-1", `git checkout -q -B both main && ${commit} && ${open}`),
  ).toMatchObject({ code: 0 });
  const request = [...github.world.pullRequests.values()].at(-1) as PullRequest;
  expect(request.body).toBe("A thing.\n\nGateway-Session: ada-1");
  const joined = await work(eve, key.secret, "mel-2", `${commit} && ${push}`);
  expect([joined.code, joined.error]).toEqual([
    0,
    expect.stringContaining("mel-1, which this clone uses, is linked"),
  ]);
  await merge(request);
  const all = await costOf(["ada-1", "mel-1", "mel-2"]);
  const page = await pageOf(request);
  expect(page.session_cost_is_lower_bound).toBe(false);
  expect(Number(page.session_cost_usd)).toBeCloseTo(all, 12);
  eve.remove();
});

describe("a task's agent that also called without the task's session", () => {
  test("makes the merge a lower bound until it is linked; then its cost is part of it", async () => {
    await call({ "x-session-id": "gs_floor", "x-claude-code-session-id": "agent-floor" });
    const request = await github.story.openPullRequest({
      repository,
      headRef: "floor",
      body: "Gateway-Session: gs_floor",
    });
    await costOf(["gs_floor"]);
    await merge(request);
    expect((await pageOf(request)).session_cost_is_lower_bound).toBe(false);
    await call({ "x-claude-code-session-id": "agent-floor" });
    await costOf(["gs_floor", "agent-floor"]);
    expect(await pageOf(request)).toMatchObject({ session_cost_is_lower_bound: true, session_requests: 1 });
    // Two times: nothing changes by repeating it.
    for (let times = 0; times < 2; times++) {
      const answer = await link({ session: "agent-floor", of: "gs_floor", task: "floor" });
      expect([answer.status, await answer.json()]).toEqual([
        200,
        { session: "agent-floor", of: "gs_floor", counts: true },
      ]);
    }
    expect(await pageOf(request)).toMatchObject({ session_cost_is_lower_bound: false, session_requests: 2 });
  });

  test("counts for the first task it is linked to; the other one's merge is a lower bound", async () => {
    for (const task of ["gs_first", "gs_other"]) await call({ "x-session-id": task });
    await call({ "x-claude-code-session-id": "agent-both" });
    await costOf(["gs_first", "gs_other", "agent-both"]);
    const requests: PullRequest[] = [];
    for (const task of ["gs_first", "gs_other"]) {
      expect(await (await link({ session: "agent-both", of: task })).json()).toMatchObject({
        counts: task === "gs_first",
      });
      const body = `Gateway-Session: ${task}`;
      const request = await github.story.openPullRequest({ repository, headRef: task, body });
      await merge(request);
      requests.push(request);
    }
    const pages = await Promise.all(requests.map(pageOf));
    expect(pages).toMatchObject([
      { session_cost_is_lower_bound: false, session_requests: 2 },
      { session_cost_is_lower_bound: true, session_requests: 1 },
    ]);
  });
});

const declare = (body: object, key = secret) =>
  fetch(`${gateway.url}/v1/sessions/contexts`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("a session over two pull requests: each costs the stretches on its branch, and the page shows all of them", async () => {
  const session = "long-1";
  const [one, two] = await Promise.all(
    ["one", "two"].map((headRef) =>
      github.story.openPullRequest({ repository, headRef, body: `Gateway-Session: ${session}` }),
    ),
  );
  if (!one || !two) throw new Error("no pull requests");
  const work = async (branch: string, calls: number) => {
    const at = Date.now();
    const answer = await declare({ session, branch, repository: "Octo-Org/Shop" });
    expect(answer.status).toBe(200);
    const { since, ...context } = (await answer.json()) as { since: string };
    expect(context).toEqual({ session, branch, repository: "Octo-Org/Shop" });
    expect(Date.parse(since)).toBeGreaterThanOrEqual(at - 1);
    // Repeating it changes nothing.
    expect(await (await declare({ session, branch, repository: "octo-org/shop" })).json()).toMatchObject({
      since,
    });
    for (let times = 0; times < calls; times++) await call({ "x-claude-code-session-id": session });
  };
  await call({ "x-claude-code-session-id": session });
  await work("one", 1);
  await work("two", 3);
  await work("elsewhere", 1);
  await until(async () => {
    const [row] = await gateway.sql`select count(*)::int as n from requests where session = ${session}`;
    return row?.["n"] === 6;
  });
  for (const request of [one, two]) await merge(request);
  const all = await costOf([session]);
  const pages = (await Promise.all([one, two].map(pageOf))) as (Awaited<ReturnType<typeof pageOf>> & {
    stretches: { branch: string; requests: number; pull_request: string | null }[];
  })[];
  expect(pages.map(({ session_requests }) => session_requests)).toEqual([2, 3]);
  expect(pages.map((page) => page.session_cost_is_lower_bound)).toEqual([false, false]);
  const costs = pages.map(({ session_cost_usd }) => Number(session_cost_usd));
  expect(costs[0]).toBeCloseTo((all / 6) * 2, 12);
  expect(costs[1]).toBeCloseTo((all / 6) * 3, 12);
  const nameOf = ({ number }: PullRequest) => `${repository.id}-${number}`;
  for (const { stretches } of pages) {
    expect(stretches).toMatchObject([
      { repository: "octo-org/shop", branch: "two", requests: 3, pull_request: nameOf(two) },
      { repository: "octo-org/shop", branch: "one", requests: 2, pull_request: nameOf(one) },
      { repository: "octo-org/shop", branch: "elsewhere", requests: 1, pull_request: null },
    ]);
  }
  expect(await declare({ session, branch: "two", repository: "octo-org/shop" }, "tg_nobody")).toMatchObject({
    status: 401,
  });
  for (const wrong of [
    { session: "two words", branch: "b", repository: "o/r" },
    { session, repository: "o/r" },
    { session, branch: "b", repository: "shop" },
    { session, branch: "b", repository: "o/r", since: "2026-01-01" },
  ]) {
    expect((await declare(wrong)).status).toBe(400);
  }
});

test("hooks declare the branch that each stretch works on, on change; each pull request costs its own", async () => {
  const session = "hooked-1";
  const agent = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: secret };
  /** The agent makes a call and runs a command in a directory, after which its hook runs. */
  const work = async (command: string, cwd = ada.work) => {
    await call({ "x-claude-code-session-id": session });
    expect(await ada.run(["sh", "-c", `cd ${cwd} && ${command}`], agent)).toMatchObject({ code: 0 });
    const input = { session_id: session, cwd, tool_name: "Bash", tool_input: { command } };
    expect(await ada.hook(JSON.stringify(input), agent)).toMatchObject({ code: 0 });
  };
  const commit = "git commit -q --allow-empty -m work";
  const open = (name: string) =>
    `git push -q origin ${name} && gh pr create --title ${name} --body "A thing."`;
  await ada.git("checkout", "--quiet", "main");
  await work("ls");
  await work("git checkout -q -b hook-1");
  await work(`${commit} && ${open("hook-1")}`);
  await work("git checkout -q main");
  await work("ls");
  await work("git checkout -q -b hook-2");
  await work(`${commit} && ${open("hook-2")}`);
  await work("ls");
  // Another worktree: nothing changes in this one.
  await work(`git worktree add -q ../aside -b hook-3 && git -C ../aside commit -q --allow-empty -m work`);
  await work("ls");
  // That worktree is switched to another branch, without a commit; and one that it never worked in, by someone else.
  await work("git -C ../aside checkout -q -b hook-4 && git worktree add -q ../theirs -b theirs");
  await work("git -C ../theirs checkout -q -b not-hooked");
  const contexts = await gateway.sql`
    select repository, branch from session_contexts where session = ${session} order by declared_at`;
  expect(contexts.map(({ repository: of, branch }) => `${of} ${branch}`)).toEqual(
    ["hook-1", "main", "hook-2", "hook-3", "hook-4"].map((branch) => `octo-org/shop ${branch}`),
  );
  await until(async () => {
    const [row] = await gateway.sql`select count(*)::int as n from requests where session = ${session}`;
    return row?.["n"] === 12;
  });
  const made = [...github.world.pullRequests.values()].slice(-2);
  for (const request of made) await merge(request);
  // The calls before the first branch are the first one's, and those on the default branch between two are no one's.
  expect((await Promise.all(made.map(pageOf))).map((page) => page.session_requests)).toEqual([4, 3]);
  for (const path of ["../aside", "../theirs"]) await ada.git("worktree", "remove", "--force", path);
});

test("a gateway that refuses a context is asked once, and one that is away stops no agent", async () => {
  let asked = 0;
  const older = Bun.serve({
    port: 0,
    fetch: () => {
      asked++;
      return Response.json({ error: { message: "No such address." } }, { status: 404 });
    },
  });
  await ada.git("checkout", "--quiet", "-B", "older", "main");
  const input = { session_id: "older-1", cwd: ada.work, tool_name: "Bash", tool_input: { command: "ls" } };
  const hook = (session_id: string) =>
    ada.hook(JSON.stringify({ ...input, session_id }), {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${older.port}`,
      ANTHROPIC_AUTH_TOKEN: secret,
    });
  for (let times = 0; times < 2; times++) expect(await hook("older-1")).toMatchObject({ code: 0, error: "" });
  expect(asked).toBe(1);
  await older.stop(true);
  expect(await hook("older-2")).toMatchObject({ code: 0, error: "" });
});

test("`tallygate run` declares the branch of its session at its start", async () => {
  await ada.git("checkout", "--quiet", "-B", "ran", "main");
  const reach = { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: secret };
  const run = () => ada.tallygate(["run", "--", "sh", "-c", "echo $GATEWAY_SESSION_ID"], reach);
  const { out } = await run();
  await run();
  const [row, ...others] =
    await gateway.sql`select branch from session_contexts where session = ${out.trim()}`;
  expect([row?.["branch"], others]).toEqual(["ran", []]);
});

test("opencode's sub-agents count for the session that began them", async () => {
  const own = { "user-agent": "opencode/1.18.33" };
  await call({ ...own, "x-session-affinity": "ses_a", "x-session-id": "ses_a" });
  await call({
    ...own,
    "x-session-affinity": "ses_b",
    "x-session-id": "ses_b",
    "x-parent-session-id": "ses_a",
  });
  let rows: unknown[] = [];
  await until(async () => {
    rows = [
      ...(await gateway.sql`select session, agent_session, parent_session from requests where client = 'opencode' order by id`),
    ];
    return rows.length === 2;
  });
  expect(rows).toEqual([
    { session: "ses_a", agent_session: null, parent_session: null },
    { session: "ses_a", agent_session: "ses_b", parent_session: "ses_a" },
  ]);
});

test("a declaration needs a key, valid ids, and one's own session; tallygate session --link makes it", async () => {
  await call({ "x-session-id": "own-1" });
  await costOf(["own-1"]);
  const stranger = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "eve", owner: "eve@example.com" })
  ).secret;
  expect((await link({ session: "own-1", of: "gs_x" }, stranger)).status).toBe(403);
  // A call of her own elsewhere gives her nothing here.
  await call({ "x-session-id": "eve-1" }, stranger);
  await costOf(["eve-1"]);
  expect((await link({ session: "own-1", of: "gs_x" }, stranger)).status).toBe(403);
  expect((await link({ session: "own-1", of: "gs_x" }, "tg_nobody")).status).toBe(401);
  expect((await link({ session: "two words", of: "gs_x" })).status).toBe(400);
  await ada.git("checkout", "--quiet", "-B", "by-hand", "main");
  const task = (await ada.tallygate(["session"])).out.trim();
  const reach = { TALLYGATE_URL: gateway.url, TALLYGATE_KEY: secret };
  expect(await ada.tallygate(["session", "--link", "own-1"], reach)).toMatchObject({
    code: 0,
    out: `${task}\n`,
  });
  const [row] = await gateway.sql`select of_session, task from session_links where session = 'own-1'`;
  expect(row).toEqual({ of_session: task, task: "by-hand" });
});
