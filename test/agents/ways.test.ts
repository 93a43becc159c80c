import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { type AgentName, agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { figure } from "#test/support/figure.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Each coding agent, set up by a login and `install` alone, in each way of working on a pull request: the merge costs what the vendor
// billed, or says that it costs more.

const WEBHOOK_SECRET = "a secret of more than sixteen characters";
const FINAL = "All is done.";

/** The vendor's price of a token, in tenths of a millionth of a dollar: what it is sent, and what it answers. */
const PRICES: Record<string, readonly [number, number]> = {
  "gpt-4o": [25, 100],
  "claude-opus-4-6": [50, 250],
  "gemini-2.5-flash": [3, 25],
};

const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  GEMINI_CLI_TRUST_WORKSPACE: "true",
  COPILOT_OFFLINE: "true",
  COPILOT_AUTO_UPDATE: "false",
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/bash",
};

type Row = {
  package: AgentName;
  /** Its program's arguments before the prompt, in a new session and in the one before. */
  words: readonly string[];
  resume: readonly string[];
  /** Settings of the person's own. */
  files?: Record<string, string>;
  /** Ways that it does not have, and why. */
  without?: Partial<Record<string, string>>;
};

const CLAUDE = ["--output-format", "json", "--allowedTools", "Bash,Agent,Task", "--strict-mcp-config"];
const GEMINI_SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};
const CODEX = ["--json", "-m", "coding"];

const AGENTS: Record<string, Row> = {
  claude: {
    package: "claude-code",
    words: [...CLAUDE, "--model", "claude", "-p"],
    resume: [...CLAUDE, "--model", "claude", "--continue", "-p"],
  },
  codex: {
    package: "codex",
    words: ["exec", ...CODEX],
    resume: ["exec", ...CODEX, "resume", "--last"],
    files: {
      ".codex/config.toml":
        'web_search = "disabled"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n',
    },
  },
  gemini: {
    package: "gemini-cli",
    words: ["--model", "gemini-2.5-flash", "--yolo", "-p"],
    resume: ["--model", "gemini-2.5-flash", "--yolo", "--resume", "latest", "-p"],
    files: { ".gemini/settings.json": JSON.stringify(GEMINI_SETTINGS) },
  },
  opencode: {
    package: "opencode",
    words: ["run", "--model", "tallygate/coding"],
    resume: ["run", "--model", "tallygate/coding", "--continue"],
    files: {
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false,
        share: "disabled",
        permission: { bash: "allow", task: "allow", external_directory: "allow" },
      }),
      // Where there is a plugin it fetches a package of its own, once; this home says that it has.
      ".config/opencode/package-lock.json": JSON.stringify({
        packages: { "": { dependencies: { "@opencode-ai/plugin": "1.18.33" } } },
      }),
      ".config/opencode/node_modules/.keep": "",
    },
  },
  copilot: {
    package: "copilot",
    words: ["--model", "coding", "--allow-all", "-p"],
    resume: ["--model", "coding", "--allow-all", "--continue", "-p"],
  },
  qwen: {
    package: "qwen-code",
    words: ["--model", "coding", "--yolo", "-p"],
    resume: ["--model", "coding", "--yolo", "--continue", "-p"],
    files: { ".qwen/settings.json": JSON.stringify({ ...GEMINI_SETTINGS, $version: 4 }) },
  },
};

/** What the agent is made to do, one tool call each: a command of the shell, or a sub-agent that does the rest. */
type Deed = string | { delegate: readonly string[] };

/** How each agent's tools take it. */
const SHELLS: Record<string, (command: string) => object> = {
  Bash: (command) => ({ command, description: "Works" }),
  bash: (command) => ({ command, description: "Works" }),
  exec_command: (cmd) => ({ cmd }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ["sh", "-c", command] }),
  run_shell_command: (command) => ({ command, description: "Works", is_background: false }),
};
const SUB_AGENTS: Record<string, (prompt: string) => object> = {
  Agent: (prompt) => ({
    description: "Works",
    prompt,
    subagent_type: "general-purpose",
    run_in_background: false,
  }),
  Task: (prompt) => ({ description: "Works", prompt, subagent_type: "general-purpose" }),
  task: (prompt) => ({
    description: "Works",
    name: "worker",
    prompt,
    agent_type: "general-purpose",
    subagent_type: "general",
  }),
  agent: (prompt) => ({ description: "Works", prompt, subagent_type: "general-purpose" }),
  invoke_agent: (prompt) => ({ agent_name: "generalist", prompt }),
  // Codex has its tools in a namespace, which the mock leaves out.
  exec_command: (message) => ({ message }),
};

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let door: ReturnType<typeof Bun.serve>;
let gateway: WiredGateway;

const plans = new Map<string, readonly Deed[]>();
/** What the vendor has billed, in tenths of a millionth of a dollar, call by call. */
let bills: number[] = [];
/** What the tools of the last call that had some said. */
let said: readonly string[] = [];

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, it) => sum + it, 0);
const textOf = ({ content }: { content?: unknown }): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? "");

/** The vendor's answer: the next deed of the step that was asked for last. No two calls use the same number of tokens. */
function answer(request: ChatCompletionRequest) {
  const tokens = [210 + bills.length, 12] as const;
  const [sent, answered] = PRICES[request.model] ?? [Number.NaN, Number.NaN];
  bills.push(tokens[0] * sent + tokens[1] * answered);
  const usage = {
    ...{ input_tokens: tokens[0], prompt_tokens: tokens[0], promptTokenCount: tokens[0] },
    ...{ output_tokens: tokens[1], completion_tokens: tokens[1], candidatesTokenCount: tokens[1] },
  };
  const { messages } = request;
  const asked = messages.findLastIndex((it) => it.role === "user" && /step [\w.-]+;/.test(textOf(it)));
  const step = /step ([\w.-]+);(?![\s\S]*step [\w.-]+;)/.exec(textOf(messages[asked] ?? {}))?.[1] ?? "";
  const results = messages.slice(asked + 1).flatMap((it) => (it.role === "tool" ? textOf(it) : []));
  if (results.length > 0) said = results;
  // Codex waits for its sub-agent by a tool of its own.
  const done = results.filter((it) => !it.includes("timed_out")).length;
  const deed = plans.get(step)?.[done];
  const names = request.tools?.map(({ function: it }) => it.name) ?? [];
  const call = (name: string, input: object) => ({
    toolCalls: [{ name, arguments: JSON.stringify(input), id: `call_${bills.length}` }],
    usage,
  });
  const begun = /"agent_id":"([^"]+)"/.exec(results.at(-1) ?? "")?.[1];
  if (begun !== undefined) return call("wait_agent", { targets: [begun], timeout_ms: 60_000 });
  const table = typeof deed === "string" ? SHELLS : SUB_AGENTS;
  const name = names.find((it) => Object.hasOwn(table, it));
  if (deed === undefined || name === undefined) return { content: FINAL, usage };
  if (typeof deed === "string") return call(name, SHELLS[name]?.(deed) ?? {});
  plans.set(`${step}.child`, deed.delegate);
  return call(
    name === "exec_command" ? "spawn_agent" : name,
    SUB_AGENTS[name]?.(`Do step ${step}.child;`) ?? {},
  );
}

/** The mock's answer, with the namespace of Codex's tools for sub-agents. */
async function withNamespace(request: Request): Promise<Response> {
  const { method, headers, body } = request;
  const answer = await fetch(vendor.url + new URL(request.url).pathname, { method, headers, body });
  const text = (await answer.text()).replaceAll(
    /"name":"(?:spawn|wait)_agent"/g,
    '$&,"namespace":"multi_agent_v1"',
  );
  return new Response(text, {
    status: answer.status,
    headers: { "content-type": answer.headers.get("content-type") ?? "" },
  });
}

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, answer);
  door = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch: withNamespace });
  gateway = await wiredGateway({ chat: `http://127.0.0.1:${door.port}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${vendor.url}/v1beta/openai`,
    credential: "of-the-vendor",
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await startGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
  for (const name of Object.keys(AGENTS)) {
    const program = await agentProgram((AGENTS[name] as Row).package);
    if (program === null) continue;
    const made = ["ada", "mel"].map((person) => machineOf(name, program, `${person}@example.com`));
    machines.set(name, (await Promise.all(made)) as [Developer, Developer]);
  }
});

afterAll(async () => {
  await door.stop(true);
  await vendor.stop();
  for (const [agent, cells] of matrix)
    figure(`${agent}: ${[...cells].map((cell) => cell.join(" ")).join(", ")}`);
});

/** A person's machine with the agent, after a login and `install`. */
async function machineOf(name: string, program: readonly string[], owner: string): Promise<Developer> {
  const row = AGENTS[name] as Row;
  const it = await developer(github, repository.fullName, { gh: true });
  it.addProgram(name, program);
  const key = await gateway.admin<{ secret: string }>("POST", "/keys", { name: `${owner}-${name}`, owner });
  const files = {
    ...row.files,
    ".bashrc": "",
    ".config/tallygate/login.json": JSON.stringify({ url: gateway.url, key: key.secret, email: null }),
  };
  for (const [path, text] of Object.entries(files)) await Bun.write(join(it.home, path), text);
  // No one is there to agree to Codex's hook.
  const words = ["install", name, ...(name === "codex" ? ["--trust"] : [])];
  expect(await it.tallygate(words, QUIET)).toMatchObject({ code: 0, error: "" });
  return it;
}

/** One of each agent's, and a colleague's; they last until the file ends. */
const machines = new Map<string, readonly [ada: Developer, mel: Developer]>();

const COMMIT = "git commit -q --allow-empty -m work";
const pushOf = (branch: string) => `git push -q origin ${branch}`;
const createOf = (branch: string) => `gh pr create --title ${branch} --body "A thing."`;
const shipOf = (branch: string) => `${COMMIT} && ${pushOf(branch)} && ${createOf(branch)}`;
const begin = (branch: string) => `git checkout -q -b ${branch}`;

const pullRequestsOf = (branch: string): PullRequest[] =>
  [...github.world.pullRequests.values()].filter(({ headRef }) => headRef === branch);

async function merge(branch: string): Promise<void> {
  const made = pullRequestsOf(branch).filter(({ closedAt }) => closedAt === null);
  expect(made.length, `open pull requests of ${branch}`).toBe(1);
  for (const it of made) await github.story.merge(it);
}

type Cell = {
  branch: string;
  ada: Developer;
  mel: Developer;
  /** Starts the agent, which does these deeds. */
  ask(deeds: readonly Deed[], how?: { resume?: boolean; by?: Developer }): Promise<void>;
};

/** Each way ends with pull requests of `branch`, or of branches whose names begin with it. */
const WAYS: Record<string, (cell: Cell) => Promise<void>> = {
  plain: ({ branch, ask }) => ask([`${begin(branch)} && ${shipOf(branch)}`]),
  "sub-agent": ({ branch, ask }) => ask([{ delegate: [`${begin(branch)} && ${COMMIT}`] }, shipOf(branch)]),
  resume: async ({ branch, ask }) => {
    await ask([`${begin(branch)} && ${COMMIT}`]);
    await ask([shipOf(branch)], { resume: true });
  },
  worktree: ({ branch, ask }) =>
    ask([`git worktree add -q -b ${branch} ../${branch} main && cd ../${branch} && ${shipOf(branch)}`]),
  "second clone": async ({ branch, ask, ada, mel: by }) => {
    await ask([`${begin(branch)} && ${shipOf(branch)}`]);
    const from = join(ada.work, "../bare.git");
    await by.git("config", `url.${from}.pushInsteadOf`, `http://${github.host}/${repository.fullName}.git`);
    await by.git("fetch", "-q", from, `${branch}:${branch}`);
    await ask([`git checkout -q ${branch} && ${COMMIT} && ${pushOf(branch)}`], { by });
  },
  script: async ({ branch, ask, ada }) => {
    await Bun.write(join(ada.work, "ship.sh"), `(${begin("$1")} && ${shipOf("$1")}) >ship.log 2>&1\n`);
    await ask([`sh ./ship.sh ${branch}`]);
  },
  "browser-opened": async ({ branch, ask }) => {
    await ask([`${begin(branch)} && ${COMMIT} && ${pushOf(branch)}`]);
    await github.story.openPullRequest({ repository, headRef: branch, body: "By hand." });
    await ask([`${COMMIT} && ${pushOf(branch)}`]);
  },
  "reused branch": async ({ branch, ask }) => {
    await ask([`${begin(branch)} && ${shipOf(branch)}`]);
    await merge(branch);
    // GitHub's clock counts whole seconds.
    await Bun.sleep(1_000);
    await ask([shipOf(branch)]);
  },
  "two pull requests": ({ branch, ask }) =>
    ask([
      `${begin(branch)} && ${shipOf(branch)}`,
      `${begin(`${branch}-b`)} main && ${shipOf(`${branch}-b`)}`,
    ]),
};

const matrix = new Map<string, Map<string, string>>();

type Page = { session_cost_usd: string | null; session_cost_is_lower_bound: boolean };

/** What the merges of the branches cost: in tenths of a millionth of a dollar, and whether one is a lower bound. */
async function costsOf(merged: readonly PullRequest[]) {
  const costs: number[] = [];
  let isFloor = false;
  for (const { number } of merged) {
    await until(async () => {
      const [row] = await gateway.sql`select link from pull_requests where number = ${number}`;
      return row && row["link"] !== "open";
    });
    const page = await gateway.admin<Page>("GET", `/pull-requests/${repository.id}-${number}`);
    costs.push(Math.round(Number(page.session_cost_usd) * 1e7));
    isFloor ||= page.session_cost_is_lower_bound;
  }
  return { costs, isFloor };
}

const cells = Object.keys(AGENTS).flatMap((agent) =>
  Object.keys(WAYS).map((way) => ({ agent, way, reason: AGENTS[agent]?.without?.[way] })),
);

const note = (agent: string, way: string, what: string) =>
  matrix.set(agent, (matrix.get(agent) ?? new Map<string, string>()).set(way, what));

test.each(cells)("$agent, $way: the merge costs what the vendor billed", async ({ agent, way, reason }) => {
  const row = AGENTS[agent] as Row;
  const [ada, mel] = machines.get(agent) ?? [];
  if (reason !== undefined || !ada || !mel) {
    note(agent, way, reason ?? "(not installed)");
    return;
  }
  note(agent, way, "failed");
  const branch = `${agent}-${way.replaceAll(" ", "-")}`;
  for (const it of [ada, mel]) await it.git("checkout", "-q", "main");
  const [known] = await gateway.sql`select count(*)::int as calls from requests`;
  bills = [];
  const runs: number[] = [];
  const ask: Cell["ask"] = async (deeds, { resume = false, by = ada } = {}) => {
    const step = `${branch}-${runs.length + 1}`;
    const before = sumOf(bills);
    plans.set(step, deeds);
    const words = [agent, ...(resume ? row.resume : row.words), `Do step ${step};`];
    const ran = await by.run(["bash", "-ic", words.map((word) => `'${word}'`).join(" ")], QUIET);
    expect([ran.code, ran.out], ran.error).toEqual([0, expect.stringContaining(FINAL)]);
    runs.push(sumOf(bills) - before);
  };
  await WAYS[way]?.({ branch, ada, mel, ask });
  const made = [branch, `${branch}-b`].flatMap(pullRequestsOf);
  expect(made.length, said.join("\n")).toBeGreaterThan(0);
  for (const it of made) if (it.closedAt === null) await github.story.merge(it);
  await until(async () => {
    const [row] = await gateway.sql`select count(*)::int as calls from requests`;
    return row?.["calls"] - known?.["calls"] >= bills.length;
  });
  const { costs, isFloor } = await costsOf(made);
  const left = sumOf(bills) - sumOf(costs);
  note(agent, way, isFloor ? `≥ (${left / 1e7})` : `${left / 1e7}`);
  expect({ left: isFloor ? 0 : left, costs }, bills.join(" ")).toEqual({
    left: 0,
    costs: made.map(() => expect.any(Number)),
  });
  expect(Math.min(...costs)).toBeGreaterThan(0);
  if (way === "reused branch") expect(costs).toEqual(runs);
});
