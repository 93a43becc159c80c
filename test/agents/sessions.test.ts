import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import type { ReportPayload } from "#shared/report-payload.ts";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Several sessions of Claude Code on one branch, without the wrapper `run`: the merge costs what all of them cost.

const claude = await agentProgram("claude-code");
const WEBHOOK_SECRET = "a secret of more than sixteen characters";
const FINAL = "Done.";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let ada: Developer;
let secret: string;

/** What Claude Code is made to run in each of its sessions. */
const STEPS = {
  "step one": "git checkout -q -b plain && git commit -q --allow-empty -m one",
  "step two":
    'git commit -q --allow-empty -m two && git push -q origin plain && gh pr create --title plain --body "A thing."',
  "step four":
    "git worktree add -q -b elsewhere ../elsewhere && cd ../elsewhere && git commit -q --allow-empty -m four && " +
    'git push -q origin elsewhere && gh pr create --title elsewhere --body "Another thing." >&2 && exit 3',
  "step three": "git commit -q --allow-empty -m review && git push -q origin plain",
};

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12 };
  for (const [step, command] of Object.entries(STEPS)) {
    const predicate = (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === "Bash") === true &&
      JSON.stringify(request.messages).includes(step);
    const call = {
      name: "Bash",
      arguments: JSON.stringify({ command, description: "Works" }),
      id: `toolu_${step.slice(5)}`,
    };
    vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
  }
  vendor.on({ hasToolResult: true }, { content: FINAL, usage });
  vendor.on({}, { content: "Nothing.", usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  secret = (
    await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada", owner: "ada@example.com" })
  ).secret;
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await startGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
  ada = await developer(github, repository.fullName, { gh: true });
  if (claude) ada.addProgram("claude", claude);
  expect((await ada.tallygate(["install", "claude"])).code).toBe(0);
});

afterAll(() => vendor.stop());

const env = () => ({
  ANTHROPIC_BASE_URL: gateway.url,
  ANTHROPIC_AUTH_TOKEN: secret,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/sh",
});

const ARGUMENTS = ["--output-format", "json", "--allowedTools", "Bash", "--strict-mcp-config"];

/** A session of Claude Code as a developer starts it, and its id. */
async function session(prompt: string): Promise<string> {
  const words = ["claude", "-p", `Do ${prompt}.`, ...ARGUMENTS, "--model", "claude"];
  const { out, error } = await ada.run(words, env());
  expect(JSON.parse(out), error).toMatchObject({ is_error: false, result: FINAL });
  return JSON.parse(out).session_id;
}

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

test.skipIf(claude === null)(
  "three plain sessions of Claude Code on one branch, the last after the pull request, are its whole cost",
  async () => {
    const first = await session("step one");
    const second = await session("step two");
    const request = [...github.world.pullRequests.values()].at(-1) as PullRequest;
    expect(request.body).toBe(`A thing.\n\nGateway-Session: ${first}`);
    const third = await session("step three");
    expect(new Set([first, second, third]).size).toBe(3);
    await merge(request);
    const all = await costOf([first, second, third]);
    const page = await pageOf(request);
    expect(page.session_cost_is_lower_bound).toBe(false);
    expect(Number(page.session_cost_usd)).toBeCloseTo(all, 12);
    const total = await mergedCost();
    expect(total?.current).toMatchObject({ merged_prs: 1, joined_prs: 1 });
    expect(Number(total?.current?.cost_usd)).toBeCloseTo(all, 12);
    const links =
      await gateway.sql`select session, of_session, task, client, counts from session_links where counts order by 1`;
    expect([...links]).toEqual(
      [second, third].sort().map((it) => ({
        session: it,
        of_session: first,
        task: "plain",
        client: expect.any(String),
        counts: true,
      })),
    );
  },
);

test.skipIf(claude === null)(
  "a pull request of another worktree is stamped, although the command that opened it fails",
  async () => {
    const own = await session("step four");
    const request = [...github.world.pullRequests.values()].find(({ headRef }) => headRef === "elsewhere");
    expect(request?.body).toBe(`Another thing.\n\nGateway-Session: ${own}`);
  },
);
