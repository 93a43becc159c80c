import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { localGithubApp } from "#test/support/running-github-app.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// From an empty home to a joined merge, with two coding agents as they are published, each started once: Claude Code by its
// own name, Codex by `tallygate run`. test/agents has all of them, and all that they can do.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");

const WEBHOOK_SECRET = "a secret of more than sixteen characters";
const FINAL = "Done.";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let ada: Developer;
let key: { id: string; secret: string };

const change = (message: string) =>
  `git commit -q --allow-empty -m ${message} && git push -q origin shared-work`;
const OPEN = `git checkout -q -b shared-work && ${change("one")} && gh pr create --title work --body "A thing."`;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  for (const [tool, input] of [
    ["Bash", { command: OPEN, description: "Opens the pull request" }],
    ["exec_command", { cmd: change("two") }],
  ] as const) {
    const predicate = (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === tool) === true;
    const call = { name: tool, arguments: JSON.stringify(input), id: `toolu_${tool}` };
    vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
  }
  vendor.on({}, { content: FINAL, usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  key = await gateway.admin("POST", "/keys", { name: "ada", owner: "ada@example.com" });
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await localGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
  ada = await developer(github, repository.fullName, { gh: true });
  for (const [name, program] of Object.entries({ claude, codex })) if (program) ada.addProgram(name, program);
  const login = { url: gateway.url, key: key.secret, email: null };
  const files = { ...OWN, ".config/tallygate/login.json": JSON.stringify(login) };
  for (const [path, text] of Object.entries(files)) await Bun.write(join(ada.home, path), text);
});

afterAll(async () => {
  await vendor.stop();
  expect(github.faults()).toEqual([]);
});

/** Settings of the person's own, which have nothing of a gateway. */
const OWN = {
  ".claude/settings.json":
    '{\n    "env": {\n        "BASH_DEFAULT_TIMEOUT_MS": "20000"\n    },\n    "cleanupPeriodDays": 20\n}',
  ".codex/config.toml": `web_search = "disabled" # nothing is fetched
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false`,
};

const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/sh",
};

type Sum = { client: string; sessions: string[]; keys: string[]; tokens: number[]; cost: string };

/** What was recorded of each client, once there are two. */
async function recorded(): Promise<Sum[]> {
  let rows: Sum[] = [];
  await until(async () => {
    rows = await gateway.sql<Sum[]>`
      select client, array_agg(distinct session) as sessions, array_agg(distinct key_id::text) as keys,
        array_agg(distinct input_tokens::int) as tokens, sum(cost_usd)::text as cost
      from requests group by 1 order by 1`;
    return rows.length === 2;
  });
  return rows;
}

test.skipIf(claude === null || codex === null)(
  "Claude Code and Codex work on one branch: its pull request is stamped, and the merge costs what all their calls cost",
  async () => {
    expect(await ada.tallygate(["install", "claude", "codex"])).toMatchObject({ code: 0, error: "" });
    const words = [
      "-p",
      "Do it.",
      "--output-format",
      "json",
      "--allowedTools",
      "Bash",
      "--strict-mcp-config",
    ];
    const first = await ada.run(["claude", ...words, "--model", "claude"], QUIET);
    expect(JSON.parse(first.out), first.error).toMatchObject({ is_error: false, result: FINAL });
    const session: string = JSON.parse(first.out).session_id;
    const request = [...github.world.pullRequests.values()].at(-1) as PullRequest;
    expect(request.body).toBe(`A thing.\n\nGateway-Session: ${session}`);

    const run = ["run", "--", "codex", "exec", "--json", "-m", "gpt-4o", "Go on."];
    const second = await ada.tallygate(run, QUIET);
    expect([second.code, second.out], second.error).toEqual([0, expect.stringContaining(FINAL)]);
    expect(await ada.git("log", "--format=%s", "-2")).toBe("two\none");
    const all = await recorded();
    const same = { sessions: [session], keys: [key.id], tokens: [210], cost: expect.stringMatching(/[1-9]/) };
    expect(all).toEqual([
      { client: "claude-code", ...same },
      { client: "codex", ...same },
    ]);

    await github.story.merge(request);
    await until(async () => {
      const [row] = await gateway.sql`select link from pull_requests where number = ${request.number}`;
      return row?.["link"] === "joined";
    });
    const page = await gateway.admin<{ session_cost_usd: string; session_cost_is_lower_bound: boolean }>(
      "GET",
      `/pull-requests/${repository.id}-${request.number}`,
    );
    const whole = all.reduce((sum, { cost }) => sum + Number(cost), 0);
    expect(Number(page.session_cost_usd)).toBeCloseTo(whole, 12);
    expect(page.session_cost_is_lower_bound).toBe(false);

    for (const path of Object.keys(OWN)) {
      expect(await Bun.file(join(ada.home, path)).text()).not.toContain(key.secret);
    }
    expect(await ada.tallygate(["uninstall"])).toMatchObject({ code: 0, error: "" });
    for (const [path, text] of Object.entries(OWN)) {
      expect(await Bun.file(join(ada.home, path)).text()).toBe(text);
    }
  },
);
