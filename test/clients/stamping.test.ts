import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Developer, developer } from "#test/support/checkout.ts";
import { type FakeGithub, startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { Repository } from "#test/support/fake-github/world.ts";
import { ALL } from "#test/support/tiers.ts";

// A developer's checkout in git itself, against GitHub on loopback, by the GitHub CLI and by REST.

let github: FakeGithub;
let repository: Repository;
beforeAll(() => {
  github = startFakeGithub();
  repository = github.story.addRepository("octo-org/checkout");
});
afterAll(() => {
  expect(github.faults()).toEqual([]);
  github.stop();
});

describe.each(["gh", "rest"] as const)("by %s", (way) => {
  let ada: Developer;
  let env: Record<string, string>;
  beforeAll(async () => {
    ada = await developer(github, repository.fullName, { gh: way === "gh" });
    env = way === "rest" ? { GITHUB_TOKEN: ada.token } : {};
  });
  afterAll(() => ada.remove());
  /** What does not depend on the way is tried by one of them; by both with `--all`. */
  const testOnce: (name: string, run: () => Promise<void>) => void =
    way === "rest" || process.env[ALL] ? test : () => undefined;
  const stamp = (...words: string[]) => ada.tallygate(["pr", "stamp", ...words], env);

  /** A branch with a pull request of its own. */
  async function begin(name: string, body: string | null) {
    await ada.git("checkout", "--quiet", "-B", name, "main");
    return await github.story.openPullRequest({ repository, headRef: name, body });
  }

  test("the branch's session is written once, however often; the dry run writes nothing", async () => {
    const request = await begin(`${way}/once`, "Adds a thing.\r\n\r\n```\r\ncode");
    const session = (await ada.tallygate(["session"])).out.trim();
    expect((await ada.tallygate(["session"])).out.trim()).toBe(session);
    const dry = await stamp("--dry-run");
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining(`would be stamped ${session}`)]);
    expect(request.body).not.toContain(session);
    for (const said of ["is now stamped", "is stamped", "is stamped"]) {
      expect(await stamp()).toMatchObject({ code: 0, out: expect.stringContaining(`${said} ${session}`) });
    }
    // The code that nothing closes would swallow a line at the end.
    expect(request.body).toBe(`Gateway-Session: ${session}\r\n\r\nAdds a thing.\r\n\r\n\`\`\`\r\ncode`);
    expect(await ada.git("log", "--format=%B")).not.toContain(session);
  });

  testOnce("a second id is never added, and two are reported", async () => {
    const request = await begin(`${way}/other`, "Gateway-Session: someone-elses");
    await ada.tallygate(["session", "--id", "mine"]);
    const { code, error } = await stamp();
    expect([code, error]).toEqual([1, expect.stringContaining("names the session someone-elses")]);
    expect(request.body).toBe("Gateway-Session: someone-elses");
    request.body = "Gateway-Session: one\n\nGateway-Session: two";
    expect(await stamp()).toMatchObject({ code: 1, error: expect.stringContaining("names 2 sessions") });
  });

  testOnce("what is stamped already becomes the branch's session", async () => {
    await begin(`${way}/adopted`, "Gateway-Session: came-from-elsewhere");
    expect((await stamp()).code).toBe(0);
    expect((await ada.tallygate(["session"])).out.trim()).toBe("came-from-elsewhere");
  });

  testOnce(
    "without a session nothing is guessed; the agent's own counts where there is no other",
    async () => {
      const request = await begin(`${way}/agents-own`, null);
      expect(await stamp()).toMatchObject({ code: 1, error: expect.stringContaining("session is unknown") });
      const hook = JSON.stringify({
        session_id: "01a1-agent",
        cwd: ada.work,
        tool_name: "Bash",
        tool_input: { command: "git push && gh pr create --fill" },
      });
      const told = await ada.hook(hook, env);
      expect([told.code, told.out]).toEqual([0, ""]);
      expect(request.body).toBe("Gateway-Session: 01a1-agent");
      // After `/clear` the agent has another id; the pull request keeps its one.
      const later = hook.replace("01a1-agent", "02b2-agent");
      expect((await ada.hook(later, env)).code).toBe(0);
      expect(request.body).toBe("Gateway-Session: 01a1-agent");
    },
  );

  testOnce("a hook stays silent for tools that touch no pull request, and without one", async () => {
    await ada.git("checkout", "--quiet", "-B", `${way}/none`, "main");
    for (const command of ["ls", "gh pr create --fill"]) {
      const input = JSON.stringify({
        session_id: "s",
        cwd: ada.work,
        tool_name: "Bash",
        tool_input: { command },
      });
      expect(await ada.hook(input, env)).toEqual({
        code: 0,
        out: "",
        error: "",
      });
    }
    expect(await ada.hook("no JSON", env)).toEqual({
      code: 0,
      out: "",
      error: "",
    });
  });

  test("a refusal of GitHub's is told in words", async () => {
    const request = await begin(`${way}/refused`, null);
    github.fail({ operation: "PATCH /repos/{owner}/{repo}/pulls/{pull_number}", status: 403 });
    const { code, error } = await stamp("--session", "mine");
    expect([code, error]).toEqual([1, expect.stringContaining("may not do that")]);
    expect(request.body).toBeNull();
  });

  testOnce("a pull request that was named and is not there is told by its number", async () => {
    const { code, error } = await stamp("--number", "9999");
    expect([code, error]).toEqual([1, expect.stringContaining("Pull request 9999 does not exist here.")]);
  });

  testOnce("a review is stamped once: one's latest, or the one that is named, and no other", async () => {
    const request = await begin(`${way}/reviewed`, null);
    const review = (...words: string[]) => ada.tallygate(["review", "stamp", ...words], env);
    expect(await review()).toMatchObject({ code: 1, error: expect.stringContaining("session is unknown") });
    await ada.tallygate(["session", "--id", "the-reviewers"]);
    expect(await review()).toMatchObject({
      code: 1,
      error: expect.stringContaining("not submitted a review of"),
    });
    const octocat = { id: 2, login: "octocat", type: "User" as const };
    const first = await github.story.submitReview(request, { body: "A question.", user: octocat });
    const second = await github.story.submitReview(request, { user: octocat });
    const others = await github.story.submitReview(request, { body: "Fine." });
    expect((await review("--dry-run")).out).toContain("would be stamped the-reviewers");
    for (const said of ["is now stamped", "is stamped"]) {
      expect(await review()).toMatchObject({
        code: 0,
        out: expect.stringContaining(`${said} the-reviewers`),
      });
    }
    expect([first.body, second.body, others.body]).toEqual([
      "A question.",
      "Gateway-Session: the-reviewers",
      "Fine.",
    ]);
    const named = ["--number", String(request.number), "--review", String(first.id)];
    expect(await review(...named, "--session", "another")).toMatchObject({ code: 0 });
    expect(first.body).toBe("A question.\n\nGateway-Session: another");
    expect(await review(...named)).toMatchObject({
      code: 1,
      error: expect.stringContaining("with two ids it does not count"),
    });
    expect(request.body).toBeNull();
  });

  testOnce("a token without a user needs the review's id", async () => {
    const request = await begin(`${way}/unnamed`, null);
    const made = await github.story.submitReview(request);
    github.fail({ operation: "GET /user", status: 403 });
    const words = ["review", "stamp", "--session", "jobs"];
    expect(await ada.tallygate(words, env)).toMatchObject({
      code: 1,
      error: expect.stringContaining("Name the review with --review <id>."),
    });
    expect(await ada.tallygate([...words, "--review", String(made.id)], env)).toMatchObject({ code: 0 });
    expect(made.body).toBe("Gateway-Session: jobs");
  });

  testOnce("a branch pushed to a fork is found in the parent", async () => {
    const fork = github.story.addRepository(`ada-${way}/checkout`);
    const hers = await developer(github, fork.fullName, { gh: way === "gh" });
    await hers.git("checkout", "--quiet", "-b", "fix");
    await hers.git("remote", "add", "upstream", `http://${github.host}/${repository.fullName}.git`);
    const request = await github.story.openPullRequest({ repository, headRef: "fix", headRepository: fork });
    const more = way === "rest" ? { GITHUB_TOKEN: hers.token } : {};
    const session = (await hers.tallygate(["session"])).out.trim();
    expect(await hers.tallygate(["pr", "stamp"], more)).toMatchObject({ code: 0 });
    expect(request.body).toBe(`Gateway-Session: ${session}`);
    hers.remove();
  });
});

describe("a run", () => {
  let ada: Developer;
  beforeEach(async () => {
    ada = await developer(github, repository.fullName);
  });

  test("every run on a branch has the same session, also in another worktree and two at once", async () => {
    await ada.git("checkout", "--quiet", "-b", "shared");
    const show = ["run", "--quiet", "--", "sh", "-c", "echo $GATEWAY_SESSION_ID"];
    const runs = await Promise.all([1, 2, 3].map(() => ada.tallygate(show)));
    const sessions = new Set(runs.map(({ out }) => out.trim()));
    expect([...sessions]).toEqual([expect.stringMatching(/^gs_[0-9a-z]{26}$/)]);
    await ada.git("checkout", "--quiet", "main");
    await ada.git("worktree", "add", "--quiet", join(ada.home, "other"), "shared");
    const there = await ada.tallygate(["-C", join(ada.home, "other"), ...show]);
    expect(sessions).toContain(there.out.trim());
    ada.remove();
  });

  test("a run on the default branch is a task of its own, and the branch made in it keeps its session", async () => {
    const show = (more: string) => ["run", "--quiet", "--", "sh", "-c", `echo $GATEWAY_SESSION_ID; ${more}`];
    const first = (await ada.tallygate(show("true"))).out.trim();
    const second = (await ada.tallygate(show("git checkout -q -b made"))).out.trim();
    expect(second).not.toBe(first);
    expect((await ada.tallygate(["session"])).out.trim()).toBe(second);
    expect((await ada.tallygate(show("true"))).out.trim()).toBe(second);
    ada.remove();
  });

  test("a run under a session that was named stamps that one at its end", async () => {
    await ada.git("checkout", "--quiet", "-b", "named");
    const request = await github.story.openPullRequest({ repository, headRef: "named", body: null });
    await ada.tallygate(["session", "--id", "the-branchs"]);
    const words = ["run", "--quiet", "--session", "given", "--stamp", "--", "true"];
    expect(await ada.tallygate(words, { GITHUB_TOKEN: ada.token })).toMatchObject({ code: 0 });
    expect(request.body).toBe("Gateway-Session: given");
    ada.remove();
  });

  test("the agent's status is the run's, and it sees none of the gateway's own secrets", async () => {
    const command = ["run", "--quiet", "--", "sh", "-c", "env; exit 7"];
    const { code, out } = await ada.tallygate(command, {
      ADMIN_KEY: "canary-admin",
      MASTER_KEY: "canary-master",
    });
    expect(code).toBe(7);
    expect(out).not.toContain("canary");
    expect(await ada.tallygate(["run", "--", "nonesuch"])).toMatchObject({ code: 127 });
    expect(await ada.tallygate(["run", "--", "sh", "-c", "kill -9 $$"])).toMatchObject({ code: 137 });
    ada.remove();
  });

  test("a branch that is renamed keeps its session, one that is deleted takes it along", async () => {
    await ada.git("checkout", "--quiet", "-b", "before");
    const session = (await ada.tallygate(["session"])).out.trim();
    await ada.git("branch", "--move", "after");
    expect((await ada.tallygate(["session"])).out.trim()).toBe(session);
    await ada.git("checkout", "--quiet", "main");
    await ada.git("branch", "--delete", "--force", "--quiet", "after");
    await ada.git("checkout", "--quiet", "-b", "after");
    expect((await ada.tallygate(["session"])).out.trim()).not.toBe(session);
    ada.remove();
  });
});
