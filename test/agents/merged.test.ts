import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import type { ReportPayload } from "#shared/report-payload.ts";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer, TALLYGATE } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// From a coding agent's work to the cost of the merged pull request: the agents, the gateway and the GitHub App as they
// are; the vendor and GitHub on loopback.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");

const WEBHOOK_SECRET = "a secret of more than sixteen characters";
const FINAL = "The pull request is open.";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let app: Awaited<ReturnType<typeof startGithubApp>>;
let secret: string;

/** What the agent is made to run, once; the branch is told apart by the prompt. */
const work = (branch: string) =>
  `git checkout -q -b ${branch} && git commit -q --allow-empty -m work && git push -q origin ${branch} && ` +
  `gh pr create --title "${branch}" --body "Adds the thing."`;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  const asks = (tool: string, branch: string) => (request: ChatCompletionRequest) =>
    request.tools?.some(({ function: it }) => it.name === tool) === true &&
    JSON.stringify(request.messages).includes(`the branch ${branch}`);
  for (const [branch, tool, input] of [
    ["by-claude", "Bash", { command: work("by-claude"), description: "Opens a pull request" }],
    ["by-codex", "exec_command", { cmd: work("by-codex") }],
    ["by-codex", "shell_command", { command: work("by-codex") }],
    ["by-codex", "shell", { command: ["sh", "-c", work("by-codex")] }],
  ] as const) {
    const call = { name: tool, arguments: JSON.stringify(input), id: `toolu_${tool}` };
    vendor.on({ hasToolResult: false, predicate: asks(tool, branch) }, { toolCalls: [call], usage });
  }
  vendor.on({ hasToolResult: true }, { content: FINAL, usage });
  vendor.on({}, { content: "Nothing to do.", usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  await gateway.admin("PUT", "/routes/claude-coding", {
    surface: "chat",
    provider: "messages-vendor",
    model: "claude-opus-4-6",
  });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
  secret = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada", owner: "ada@example.com" })
  ).secret;
  github.app.webhookSecret = WEBHOOK_SECRET;
  app = await startGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
});

afterAll(async () => {
  await vendor.stop();
});

const CLAUDE = ["--output-format", "json", "--allowedTools", "Bash", "--strict-mcp-config"];
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/sh",
};

/** A developer with the agents installed, the hook installed by `tallygate install`, and the gateway's key. */
async function machine() {
  const it = await developer(github, repository.fullName, { gh: true });
  if (claude) it.addProgram("claude", claude);
  if (codex) it.addProgram("codex", codex);
  await Bun.write(join(it.home, ".codex/config.toml"), CODEX_CONFIG);
  const installed = await it.tallygate(["install", "claude", "codex"]);
  expect(installed).toMatchObject({ code: 0, error: "" });
  const env = { ...QUIET, TALLYGATE_URL: gateway.url, TALLYGATE_KEY: secret };
  return {
    ...it,
    agent: (words: readonly string[]) => it.tallygate(["run", "--", ...words], env),
    converse: (lines: readonly string[]) => converse({ ...it, env: { ...it.env, ...env } }, lines),
  };
}

const STREAMED = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

/** Says line after line to one Claude Code, each after the answer to the one before; the sessions that it told of. */
async function converse({ work, env }: Developer, lines: readonly string[]): Promise<Set<string>> {
  const words = ["-C", work, "run", "--", "claude", "-p", "--model", "claude-coding", "--strict-mcp-config"];
  const child = Bun.spawn([...TALLYGATE, ...words, ...STREAMED], {
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    timeout: 120_000,
  });
  let said = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) said += decoder.decode(bytes, { stream: true });
  })();
  const results = () => said.split('"type":"result"').length - 1;
  for (const [at, content] of lines.entries()) {
    child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    child.stdin.flush();
    await until(async () => results() > at || child.exitCode !== null);
  }
  child.stdin.end();
  await reading;
  return new Set([...said.matchAll(/"session_id":"([^"]+)"/g)].map(([, id = ""]) => id));
}

const CODEX_CONFIG = `
web_search = "disabled"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
`;

const pullRequestOf = (branch: string): PullRequest | undefined =>
  [...github.world.pullRequests.values()].find(({ headRef }) => headRef === branch);

const sessionOf = ({ body }: PullRequest): string => /^Gateway-Session: (\S+)$/m.exec(body ?? "")?.[1] ?? "";

type Sum = { records: number; cost: string; clients: string[] };

/** Calls of a session and their cost, as they are recorded. */
async function recordsOf(session: string): Promise<Sum> {
  const [row] = await gateway.sql<Sum[]>`
    select count(*)::int as records, sum(cost_usd)::text as cost, array_agg(distinct client) as clients
    from requests where session = ${session}`;
  return row ?? { records: 0, cost: "0", clients: [] };
}

/** Calls that carry another session than a branch's. */
const strays = async (): Promise<unknown[]> => [
  ...(await gateway.sql`select client, session from requests where session is null or session not like 'gs_%'`),
];

/** What the report tells of the repository, read by the command that a manager uses. */
async function report(it: Developer) {
  const read = await it.tallygate(["report", "cost-per-merged-pr", "--json"], {
    ADMIN_KEY,
    TALLYGATE_URL: gateway.url,
  });
  expect(read.error).toBe("");
  const payload: ReportPayload = JSON.parse(read.out);
  return payload.reports[0]?.result?.total.current;
}

const joined = (number: number) =>
  until(async () => {
    const [row] = await gateway.sql`select link from pull_requests where number = ${number}`;
    return row?.["link"] === "joined";
  });

describe.skipIf(claude === null || codex === null)("a merged pull request", () => {
  test("of Claude Code, then of a second agent and a cleared one on the same branch, costs what its calls cost", async () => {
    const it = await machine();
    const prompt = "Do the work on the branch by-claude.";
    const first = await it.agent(["claude", "-p", prompt, ...CLAUDE, "--model", "claude-coding"]);
    expect(JSON.parse(first.out)).toMatchObject({ is_error: false, result: FINAL });
    const request = pullRequestOf("by-claude") as PullRequest;
    const session = sessionOf(request);
    // Stamped by the hook, while the agent ran.
    expect(request.body).toBe(`Adds the thing.\n\nGateway-Session: ${session}`);
    expect(session).toMatch(/^gs_[0-9a-z]{26}$/);
    const alone = await recordsOf(session);
    expect(alone.clients).toEqual(["claude-code"]);

    // `/clear` gives the tool another session of its own; and then a second agent works on the branch.
    const own = await it.converse(["Look once more.", "/clear", "And again."]);
    expect(own.size).toBe(2);
    const other = await it.agent(["codex", "exec", "--json", "-m", "coding", "Look once more."]);
    expect(other.code).toBe(0);
    // What the gateway has answered is in its table a moment later.
    await until(async () => (await recordsOf(session)).clients.includes("codex"));
    const all = await recordsOf(session);
    expect(all.clients.sort()).toEqual(["claude-code", "codex"]);
    expect(all.records).toBeGreaterThanOrEqual(alone.records + 3);
    expect(await strays()).toEqual([]);
    expect((await it.tallygate(["pr", "stamp"])).out).toContain(`is stamped ${session}`);

    await github.story.merge(request);
    await joined(request.number);
    expect(await report(it)).toMatchObject({ merged_prs: 1, joined_prs: 1, cost_usd: Number(all.cost) });
    it.remove();
  });

  test("of Codex is stamped by its own hook", async () => {
    const it = await machine();
    const words = ["codex", "exec", "--json", "--dangerously-bypass-hook-trust", "-m", "coding"];
    const { code, out } = await it.agent([...words, "Do the work on the branch by-codex."]);
    expect([code, out]).toEqual([0, expect.stringContaining(FINAL)]);
    const request = pullRequestOf("by-codex") as PullRequest;
    const session = sessionOf(request);
    expect(session).toMatch(/^gs_/);
    const before = Number((await report(it))?.cost_usd ?? 0);
    await github.story.merge(request);
    await joined(request.number);
    const { cost, clients } = await recordsOf(session);
    expect(clients).toEqual(["codex"]);
    expect(Number((await report(it))?.cost_usd)).toBeCloseTo(before + Number(cost), 12);
    expect(await strays()).toEqual([]);
    it.remove();
  });
});
