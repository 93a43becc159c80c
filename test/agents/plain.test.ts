import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer, type Ran } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// From an empty home to a joined merge: three agents work on one branch, each started by its own command and set up
// by `tallygate install` alone.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");
const opencode = await agentProgram("opencode");

const WEBHOOK_SECRET = "a secret of more than sixteen characters";
const FINAL = "Done.";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let ada: Developer;
let secret: string;

const change = (message: string) =>
  `git commit -q --allow-empty -m ${message} && git push -q origin shared-work`;
const OPEN = `git checkout -q -b shared-work && ${change("one")} && gh pr create --title work --body "A thing."`;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  for (const [tool, step, input] of [
    ["Bash", "step one", { command: OPEN, description: "Opens the pull request" }],
    ["exec_command", "step two", { cmd: change("two") }],
    ["shell_command", "step two", { command: change("two") }],
    ["shell", "step two", { command: ["sh", "-c", change("two")] }],
    ["bash", "step three", { command: change("three"), description: "Works" }],
  ] as const) {
    const predicate = (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === tool) === true &&
      JSON.stringify(request.messages).includes(step);
    const call = { name: tool, arguments: JSON.stringify(input), id: `toolu_${tool}` };
    vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
  }
  vendor.on({ hasToolResult: true }, { content: FINAL, usage });
  vendor.on({}, { content: "Nothing.", usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
  secret = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada", owner: "ada@example.com" })
  ).secret;
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await startGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
  ada = await developer(github, repository.fullName, { gh: true });
  for (const [name, program] of Object.entries({ claude, codex, opencode })) {
    if (program) ada.addProgram(name, program);
  }
  await settle();
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
check_for_update_on_startup = false

[history]
persistence = "none"`,
};

/** What `tallygate login` keeps, and settings of the person's own. */
async function settle(): Promise<void> {
  const files = {
    ...OWN,
    ".config/tallygate/login.json": JSON.stringify({ url: gateway.url, key: secret, email: null }),
    ".config/opencode/opencode.json": JSON.stringify({
      autoupdate: false,
      share: "disabled",
      permission: { bash: "allow" },
    }),
    // Where there is a plugin it fetches a package of its own, once; this home says that it has.
    ".config/opencode/package-lock.json": JSON.stringify({
      packages: { "": { dependencies: { "@opencode-ai/plugin": "1.18.33" } } },
    }),
    ".config/opencode/node_modules/.keep": "",
  };
  for (const [path, text] of Object.entries(files)) await Bun.write(join(ada.home, path), text);
  // Nobody is there to agree to Codex's hook.
  const { code, error } = await ada.tallygate(["install", "claude", "codex", "opencode", "--trust"], QUIET);
  expect([code, error]).toEqual([0, ""]);
}

const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/sh",
};

async function work(words: readonly string[]): Promise<Ran> {
  const ran = await ada.run(words, QUIET);
  expect([ran.code, ran.out], ran.error).toEqual([0, expect.stringContaining(FINAL)]);
  return ran;
}

type Sum = { client: string; cost: string; tokens: number | null; owners: string };

/** What each client's calls cost, once all three have been recorded. */
async function costs(): Promise<Sum[]> {
  let rows: Sum[] = [];
  await until(async () => {
    rows = await gateway.sql<Sum[]>`
      select client, sum(cost_usd)::text as cost, max(input_tokens)::int as tokens,
        string_agg(distinct key_id::text, ',') as owners
      from requests group by 1 order by 1`;
    return rows.length === 3;
  });
  return rows;
}

test.skipIf(claude === null || codex === null || opencode === null)(
  "Claude Code, Codex and opencode on one branch, without the wrapper: the merge costs what all their calls cost",
  async () => {
    await work([
      ...["claude", "-p", "Do step one.", "--output-format", "json", "--allowedTools", "Bash"],
      ...["--strict-mcp-config", "--model", "claude"],
    ]);
    const request = [...github.world.pullRequests.values()].at(-1) as PullRequest;
    expect(request.body).toMatch(/^A thing\.\n\nGateway-Session: \S+$/);
    await work(["codex", "exec", "--json", "-m", "coding", "Do step two."]);
    await work(["opencode", "run", "--model", "tallygate/coding", "Do step three."]);
    const all = await costs();
    expect(all.map(({ client }) => client)).toEqual(["claude-code", "codex", "opencode"]);
    expect(all.map(({ tokens, cost }) => [tokens, Number(cost) > 0])).toEqual(Array(3).fill([210, true]));
    expect(new Set(all.map(({ owners }) => owners)).size).toBe(1);
    expect(await ada.git("log", "--format=%s", "-3")).toBe("three\ntwo\none");

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

    // Nothing of ours was in a file with the key, and nothing of ours stays.
    for (const path of Object.keys(OWN)) {
      expect(await Bun.file(join(ada.home, path)).text()).not.toContain(secret);
    }
    expect(await ada.tallygate(["uninstall"])).toMatchObject({ code: 0, error: "" });
    for (const [path, text] of Object.entries(OWN)) {
      expect(await Bun.file(join(ada.home, path)).text()).toBe(text);
    }
    for (const path of [".codex/hooks.json", ".config/opencode/plugin/tallygate-gateway.js"]) {
      expect(await Bun.file(join(ada.home, path)).exists()).toBe(false);
    }
  },
);
