import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { agentProgram } from "#test/support/agents.ts";
import { type Developer, developer } from "#test/support/checkout.ts";
import { startFakeGithub } from "#test/support/fake-github/fake-github.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Gemini CLI, Copilot CLI and opencode as they are published: the session on their calls, and the hook that stamps.

const gemini = await agentProgram("gemini-cli");
const copilot = await agentProgram("copilot");
const opencode = await agentProgram("opencode");

const FINAL = "The pull request is open.";

const github = startFakeGithub();
const repository = github.story.addRepository("octo-org/shop");
let vendor: LLMock;
let google: ReturnType<typeof Bun.serve>;
/** `x-session-id` of every call that Gemini CLI made. */
const googleSessions: (string | null)[] = [];
let gateway: WiredGateway;
let secret: string;

const work = (branch: string) =>
  `git checkout -q -b ${branch} && git commit -q --allow-empty -m work && git push -q origin ${branch} && ` +
  `gh pr create --title "${branch}" --body "Adds the thing."`;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  for (const [branch, tool] of [
    ["by-gemini", "run_shell_command"],
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
  google = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch(request) {
      googleSessions.push(request.headers.get("x-session-id"));
      const { pathname, search } = new URL(request.url);
      return fetch(vendor.url + pathname + search, {
        method: request.method,
        headers: request.headers,
        body: request.body,
      });
    },
  });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
  secret = (await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada" })).secret;
});

afterAll(async () => {
  await google.stop(true);
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

/** The session that the branch's pull request is stamped with. */
function stampOf(branch: string): string | undefined {
  const made = [...github.world.pullRequests.values()].find(({ headRef }) => headRef === branch);
  if (!made) throw new Error(`no pull request of ${branch}`);
  return /^Adds the thing\.\n\nGateway-Session: (gs_[0-9a-z]{26})$/.exec(made.body ?? "")?.[1];
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

test.skipIf(gemini === null)("Gemini CLI sends the branch's session, and its hook stamps it", async () => {
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  };
  const it = await machine("gemini", gemini ?? [], [".gemini/settings.json", settings]);
  const env = {
    ...QUIET,
    GEMINI_API_KEY: "of-the-suite",
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${google.port}`,
    GEMINI_CLI_CUSTOM_HEADERS: "x-team: shop",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  };
  const words = [
    "run",
    "--",
    "gemini",
    "--model",
    "gemini-2.5-flash",
    "--yolo",
    "-p",
    "Do the work on the branch by-gemini.",
  ];
  const { code, out, error } = await it.tallygate(words, env);
  expect([code, out], error).toEqual([0, expect.stringContaining(FINAL)]);
  expect(new Set(googleSessions)).toEqual(new Set([stampOf("by-gemini") ?? "none"]));
  it.remove();
});

test.skipIf(copilot === null)("Copilot CLI sends the branch's session, and its hook stamps it", async () => {
  const it = await machine("copilot", copilot ?? []);
  const env = {
    ...QUIET,
    TALLYGATE_URL: gateway.url,
    TALLYGATE_KEY: secret,
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
  };
  const words = [
    "run",
    "--",
    "copilot",
    "--model",
    "coding",
    "--allow-all",
    "-p",
    "Do the work on the branch by-copilot.",
  ];
  const { code, out, error } = await it.tallygate(words, env);
  expect([code, out], error).toEqual([0, expect.stringContaining(FINAL)]);
  expect(await sessionsOf("copilot-cli")).toEqual([stampOf("by-copilot")]);
  // Its later turns look like its SDK's.
  expect(await sessionsOf("openai-js", false)).toEqual([]);
  it.remove();
});

test.skipIf(opencode === null)(
  "opencode sends the branch's session instead of its own, and its hook stamps it",
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
    it.remove();
  },
);
