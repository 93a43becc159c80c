import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { PullRequest } from "#test/support/fake-github/world.ts";
import { startGithubApp } from "#test/support/github-app-process.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Gemini CLI, Copilot CLI, Qwen Code and opencode as they are published, from an empty home to a joined merge: the session on their
// calls, and the hook that stamps. All but opencode are set up by `tallygate install` after `tallygate login` alone, and started by
// their own name in the user's shell.

const gemini = await agentProgram("gemini-cli");
const copilot = await agentProgram("copilot");
const qwen = await agentProgram("qwen-code");
const opencode = await agentProgram("opencode");

const FINAL = "The pull request is open.";
const WEBHOOK_SECRET = "a secret of more than sixteen characters";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let gateway: WiredGateway;
let secret: string;
let keyId: string;

const work = (branch: string) =>
  `git checkout -q -b ${branch} && git commit -q --allow-empty -m work && git push -q origin ${branch} && ` +
  `gh pr create --title "${branch}" --body "Adds the thing."`;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  for (const [branch, tool] of [
    ["by-gemini", "run_shell_command"],
    ["by-qwen", "run_shell_command"],
    ["by-copilot", "bash"],
    ["by-opencode", "bash"],
  ] as const) {
    const predicate = (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === tool) === true &&
      JSON.stringify(request.messages).includes(`the branch ${branch}`);
    const input = { command: work(branch), description: "Opens a pull request" };
    const call = { name: tool, arguments: JSON.stringify(input), id: `call_${tool}` };
    vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
  }
  vendor.on({ hasToolResult: true }, { content: FINAL, usage });
  vendor.on({}, { content: "Nothing to do.", usage });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/providers/google", {
    kind: "gemini",
    base_url: `${vendor.url}/v1beta/openai`,
    credential: "of-the-vendor",
    allow_private_network: true,
    enabled: true,
  });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: "ada" });
  ({ secret, id: keyId } = key);
  await gateway.admin("PATCH", "/settings", { pull_request_stamping: true });
  github.app.webhookSecret = WEBHOOK_SECRET;
  const app = await startGithubApp({ DATABASE_URL: gateway.databaseUrl, WEBHOOK_SECRET });
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await github.story.install({ repositories: [repository] });
});

afterAll(async () => {
  await vendor.stop();
  expect(github.faults()).toEqual([]);
});

const QUIET = {
  HTTP_PROXY: "http://127.0.0.1:9",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
  SHELL: "/bin/sh",
};

/** The agent with its settings, in a home of its own, and the hook installed into it. */
async function machine(
  name: string,
  program: readonly string[],
  settings: readonly [path: string, content: object] | [] = [],
): Promise<Developer> {
  const it = await developer(github, repository.fullName, { gh: true });
  const [path, content] = settings;
  if (path) await Bun.write(join(it.home, path), JSON.stringify(content));
  it.addProgram(name, program);
  expect(await it.tallygate(["install", name])).toMatchObject({ code: 0, error: "" });
  return it;
}

function pullRequestOf(branch: string): PullRequest {
  const made = [...github.world.pullRequests.values()].find(({ headRef }) => headRef === branch);
  if (!made) throw new Error(`no pull request of ${branch}`);
  return made;
}

/** The session that the branch's pull request is stamped with. */
const stampOf = (branch: string): string | undefined =>
  // Qwen Code signs the text that it writes.
  /^Adds the thing\.\n\n(?:Generated with [^\n]+\n\n)?Gateway-Session: (gs_[0-9a-z]{26})$/.exec(
    pullRequestOf(branch).body ?? "",
  )?.[1];

/** Once it is merged, the branch's pull request costs what the calls of this client cost, all of which are known. */
async function expectJoined(branch: string, client: string): Promise<void> {
  const merged = pullRequestOf(branch);
  await github.story.merge(merged);
  await until(async () => {
    const [row] = await gateway.sql`select link from pull_requests where number = ${merged.number}`;
    return row?.["link"] === "joined";
  });
  const [spent] = await gateway.sql`
    select sum(cost_usd)::text as usd from requests where client = ${client}`;
  const page = await gateway.admin("GET", `/pull-requests/${repository.id}-${merged.number}`);
  expect(page).toMatchObject({ session_cost_usd: spent?.["usd"], session_cost_is_lower_bound: false });
}

/** Sessions of all that was recorded of a client. */
async function sessionsOf(client: string, some = true): Promise<unknown[]> {
  let rows: { session: string | null }[] = [];
  await until(async () => {
    rows = await gateway.sql<typeof rows>`select distinct session from requests where client = ${client}`;
    return rows.length > 0 || !some;
  });
  return rows.map(({ session }) => session);
}

const PROFILE = "alias g=git # without a line feed";

/** What the agent does in the user's shell, set up by a login and `install` alone; `uninstall` leaves the files as they were. */
async function byName(
  name: "gemini" | "copilot" | "qwen",
  words: readonly string[],
  env: Record<string, string>,
) {
  const program = { gemini, copilot, qwen }[name] ?? [];
  const shell = { SHELL: "/bin/bash" };
  const it = await developer(github, repository.fullName, { gh: true });
  it.addProgram(name, program);
  const own = name === "copilot" ? {} : { [`.${name}/settings.json`]: ownSettings(name) };
  const files = { ".bashrc": PROFILE, ...own };
  for (const [path, text] of Object.entries(files)) await Bun.write(join(it.home, path), text);
  const login = { url: gateway.url, key: secret, email: null };
  await Bun.write(join(it.home, ".config/tallygate/login.json"), JSON.stringify(login));
  expect(await it.tallygate(["install", name], shell)).toMatchObject({ code: 0, error: "" });
  for (const path of Object.keys(files)) {
    expect(await Bun.file(join(it.home, path)).text()).not.toContain(secret);
  }
  const line = [name, ...words].map((word) => `'${word}'`).join(" ");
  const { code, out, error } = await it.run(["bash", "-ic", line], { ...QUIET, ...env });
  expect([code, out], error).toEqual([0, expect.stringContaining(FINAL)]);
  expect(await it.tallygate(["uninstall"], shell)).toMatchObject({ code: 0, error: "" });
  for (const [path, text] of Object.entries(files)) {
    expect(await Bun.file(join(it.home, path)).text()).toBe(text);
  }
  it.remove();
}

/** What was recorded of a client's calls, once. */
async function metered(client: string) {
  let rows: { session: string; key: string; tokens: number; priced: boolean }[] = [];
  await until(async () => {
    rows = await gateway.sql<typeof rows>`
      select distinct session, key_id::text as key, input_tokens::int as tokens, cost_usd > 0 as priced
      from requests where client = ${client}`;
    return rows.length > 0;
  });
  return rows;
}

/** One session, the login's key, and tokens and a cost of every call. */
const meteredFor = (branch: string) => [
  { session: stampOf(branch) ?? "none", key: keyId, tokens: 210, priced: true },
];

/** Settings of the person's own. */
const ownSettings = (name: string): string => {
  const own = {
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    // Qwen Code adds its version itself.
    ...(name === "qwen" && { $version: 4 }),
  };
  return JSON.stringify(own, null, 4);
};

test.skipIf(gemini === null)(
  "Gemini CLI, started by its name, sends the branch's session, its hook stamps it, and the merge is joined",
  async () => {
    const words = ["--model", "gemini-2.5-flash", "--yolo", "-p", "Do the work on the branch by-gemini."];
    await byName("gemini", words, { GEMINI_CLI_TRUST_WORKSPACE: "true" });
    expect(await metered("gemini-cli")).toEqual(meteredFor("by-gemini"));
    await expectJoined("by-gemini", "gemini-cli");
  },
);

test.skipIf(copilot === null)(
  "Copilot CLI, started by its name, sends the branch's session, its hook stamps it, and the merge is joined",
  async () => {
    const words = ["--model", "coding", "--allow-all", "-p", "Do the work on the branch by-copilot."];
    await byName("copilot", words, { COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false" });
    expect(await metered("copilot-cli")).toEqual(meteredFor("by-copilot"));
    await expectJoined("by-copilot", "copilot-cli");
    // Its later turns look like its SDK's.
    expect(await sessionsOf("openai-js", false)).toEqual([]);
  },
);

test.skipIf(qwen === null)(
  "Qwen Code, started by its name, sends the branch's session, its hook stamps it, and the merge is joined",
  async () => {
    const words = ["--model", "coding", "--yolo", "-p", "Do the work on the branch by-qwen."];
    await byName("qwen", words, {});
    expect(await metered("qwen-code")).toEqual(meteredFor("by-qwen"));
    await expectJoined("by-qwen", "qwen-code");
  },
);

test.skipIf(opencode === null)(
  "opencode sends the branch's session instead of its own, its hook stamps it, and the merge is joined",
  async () => {
    const config = {
      autoupdate: false,
      share: "disabled",
      permission: { bash: "allow" },
      provider: {
        gateway: {
          npm: "@ai-sdk/openai-compatible",
          name: "gateway",
          options: { baseURL: `${gateway.url}/v1`, apiKey: "{env:TALLYGATE_KEY}" },
          models: { coding: { name: "coding" } },
        },
      },
    };
    const it = await machine("opencode", opencode ?? [], [".config/opencode/opencode.json", config]);
    // Where there is a plugin it fetches a package of its own, once; this home says that it has.
    const lock = { packages: { "": { dependencies: { "@opencode-ai/plugin": "1.18.33" } } } };
    await Bun.write(join(it.home, ".config/opencode/package-lock.json"), JSON.stringify(lock));
    await Bun.write(join(it.home, ".config/opencode/node_modules/.keep"), "");
    const env = {
      ...QUIET,
      TALLYGATE_URL: gateway.url,
      TALLYGATE_KEY: secret,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    };
    const words = [
      "run",
      "--",
      "opencode",
      "run",
      "--model",
      "gateway/coding",
      "Do the work on the branch by-opencode.",
    ];
    const { code, out, error } = await it.tallygate(words, env);
    expect([code, out], error).toEqual([0, expect.stringContaining(FINAL)]);
    expect(await sessionsOf("opencode")).toEqual([stampOf("by-opencode")]);
    await expectJoined("by-opencode", "opencode");
    it.remove();
  },
);
