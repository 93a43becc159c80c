import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Developer, developer } from "#test/support/checkout.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest, Repository } from "#test/support/fake-github/world.ts";
import { casesOf, longTest } from "#test/support/fault-run.ts";

// An agent's hook judges a tool by what it did to branches and pull requests, not by the words of its command.

const SESSION = "agents-own";

let github: FakeGithub;
let repository: Repository;
let ada: Developer;
beforeAll(async () => {
  github = startFakeGithub();
  repository = github.story.addRepository("octo-org/effects");
  ada = await developer(github, repository.fullName, { gh: true });
});
afterAll(() => {
  ada.remove();
  expect(github.faults()).toEqual([]);
  github.stop();
});

const hook = (output: string, more: object = {}) =>
  ada.hook(
    JSON.stringify({
      ...{ session_id: SESSION, cwd: ada.work, tool_name: "Bash", tool_input: { command: "sh ./it.sh" } },
      ...{ tool_response: { stdout: output, stderr: "" }, duration_ms: 3_000, ...more },
    }),
  );

/** The agent's shell runs a command, and then its hook. */
async function tool(command: string, more: object = {}) {
  const ran = await ada.run(["sh", "-c", command]);
  expect([ran.code, ran.error]).toEqual([0, expect.any(String)]);
  return await hook(ran.out, more);
}

const openOf = (branch: string): PullRequest | undefined =>
  [...github.world.pullRequests.values()].find(({ headRef }) => headRef === branch);
const pinOf = async (branch: string): Promise<string> =>
  (await ada.run(["git", "config", `branch.${branch}.gateway-session`])).out.trim();
const worktreeOf = async (branch: string): Promise<string> => {
  const path = join(ada.home, branch);
  await ada.git("worktree", "add", "--quiet", "-b", branch, path, "main");
  return path;
};
const CREATE = "gh pr create --title t --body It.";

const ELSEWHERE = [
  [
    "detached",
    (wt: string) =>
      `cd ${wt} && git checkout -q --detach && git commit -q --allow-empty -m w && git push -q origin HEAD:refs/heads/detached && ${CREATE} --head detached >&2`,
  ],
  [
    "script",
    (wt: string) =>
      `cd ${wt} && git commit -q --allow-empty -m w && git push -q origin script && ${CREATE} >&2`,
  ],
  [
    "worktree",
    (wt: string) =>
      `cd ${wt} && git commit -q --allow-empty -m w && git push -q origin worktree && ${CREATE}`,
  ],
  ["headed", (wt: string) => `git -C ${wt} commit -q --allow-empty -m w && ${CREATE} --head headed`],
] as const;

test.each(casesOf(ELSEWHERE, 2))(
  "a pull request made in another worktree is stamped: %s",
  async (branch, command) => {
    const path = await worktreeOf(branch);
    expect(await tool(command(path))).toMatchObject({ code: 0, out: "" });
    expect(openOf(branch)?.body).toBe(`It.\n\nGateway-Session: ${SESSION}`);
    expect(await pinOf(branch)).toBe(SESSION);
  },
);

test("another branch's pull request gets its own session, not the checked-out branch's", async () => {
  await ada.git("checkout", "--quiet", "-b", "pinned", "main");
  await ada.tallygate(["session", "--id", "of-pinned"]);
  const path = await worktreeOf("beside");
  await tool(
    `git -C ${path} commit -q --allow-empty -m w && git -C ${path} push -q origin beside && cd ${path} && ${CREATE}`,
  );
  expect(openOf("beside")?.body).toBe(`It.\n\nGateway-Session: ${SESSION}`);
  await ada.git("checkout", "--quiet", "main");
});

test("a pull request that was opened in the browser is stamped by the agent's next push", async () => {
  await tool(
    "git checkout -q -b browser && git commit -q --allow-empty -m one && git push -q origin browser",
  );
  const request = await github.story.openPullRequest({ repository, headRef: "browser", body: "By hand." });
  expect(await tool("git commit -q --allow-empty -m two")).toMatchObject({ code: 0, error: "" });
  expect(request.body).toBe("By hand.");
  const { code, error } = await tool("git commit -q --allow-empty -m three && git push -q origin browser");
  expect([code, error]).toEqual([0, expect.stringContaining(`is now stamped ${SESSION}`)]);
  expect(request.body).toBe(`By hand.\n\nGateway-Session: ${SESSION}`);
});

test("pull requests that are only shown are left alone: others', and older ones", async () => {
  const user = { id: 77, login: "hubot", type: "User" as const };
  const others = await github.story.openPullRequest({ repository, headRef: "others", body: null, user });
  const at = new Date(Date.now() - 3_600_000).toISOString();
  const older = await github.story.openPullRequest({ repository, headRef: "older", body: null, at });
  const shown = [others, older].map(
    ({ number }) => `http://${github.host}/${repository.fullName}/pull/${number}`,
  );
  expect(await hook(shown.join("\n"))).toEqual({ code: 0, out: "", error: "" });
  expect([others.body, older.body]).toEqual([null, null]);
});

test("work that the tool did not do is not the session's: others' commits, a fetch, another agent's", async () => {
  const [theirs, elsewhere] = [await worktreeOf("theirs"), await worktreeOf("elsewhere")];
  await hook("");
  const hourAgo = `@${Math.floor(Date.now() / 1000) - 3600} +0000`;
  const commit = ["git", "-C", theirs, "commit", "-q", "--allow-empty", "-m", "by a person"];
  await ada.run(commit, { GIT_COMMITTER_DATE: hourAgo });
  await hook("");
  expect(await pinOf("theirs")).toBe("");
  // The hook of the agent that did it comes first.
  await ada.run(["git", "-C", elsewhere, "commit", "-q", "--allow-empty", "-m", "by an agent"]);
  await hook("", { session_id: "another-agent", cwd: elsewhere });
  await hook("");
  expect(await pinOf("elsewhere")).toBe("another-agent");
  await tool(`git -C ${theirs} reset -q --hard main && git fetch -q . main:fetched`);
  expect([await pinOf("theirs"), await pinOf("fetched")]).toEqual(["", ""]);
});

longTest("clients/stamping (a hook stays silent)")(
  "a directory that is gone, or no repository, is nothing",
  async () => {
    for (const cwd of [join(ada.home, "gone"), ada.home])
      expect(await hook("", { cwd })).toEqual({ code: 0, out: "", error: "" });
  },
);

describe("a branch whose pull request is over", () => {
  const pinned = async (branch: string) => {
    await ada.git("checkout", "--quiet", "-b", branch, "main");
    const first = (await ada.tallygate(["session"])).out.trim();
    await tool(`git commit -q --allow-empty -m one && git push -q origin ${branch} && ${CREATE}`);
    expect(openOf(branch)?.body).toBe(`It.\n\nGateway-Session: ${first}`);
    return { first, request: openOf(branch) as PullRequest };
  };
  const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
  const session = async () =>
    (await ada.tallygate(["run", "--quiet", "--", "sh", "-c", "echo $GATEWAY_SESSION_ID"])).out.trim();

  test("merged: its next run and its next pull request have another session", async () => {
    const { first, request } = await pinned("reused");
    expect(await session()).toBe(first);
    await github.story.merge(request, { at: hourAgo() });
    const second = await session();
    expect(second).not.toBe(first);
    await tool("git commit -q --allow-empty -m two && git push -q origin reused");
    const next = await github.story.openPullRequest({ repository, headRef: "reused", body: null });
    await tool("git commit -q --allow-empty -m three && git push -q origin reused");
    expect(next.body).toBe(`Gateway-Session: ${second}`);
    expect(request.body).toBe(`It.\n\nGateway-Session: ${first}`);
  });

  longTest("clients/tool-effects (merged)")(
    "closed: an agent's next commit on it belongs to the agent's own session",
    async () => {
      const { first, request } = await pinned("given-up");
      await github.story.close(request, { at: hourAgo() });
      await tool("git commit -q --allow-empty -m two");
      expect(await pinOf("given-up")).toBe(SESSION);
      expect(first).not.toBe(SESSION);
    },
  );

  test("merged by the tool itself: what it committed before still belongs to the task", async () => {
    const { first, request } = await pinned("merging");
    await github.story.merge(request);
    await tool("git commit -q --allow-empty -m two && git push -q origin merging");
    expect(await pinOf("merging")).toBe(first);
  });

  test("while GitHub is away, the task goes on", async () => {
    const { first } = await pinned("offline");
    github.fail({ operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}", status: 503 });
    expect(await session()).toBe(first);
  });
});
