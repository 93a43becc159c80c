import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { AGENTS } from "#gateway/cli/agents/agents.ts";
import { CLAUDE } from "#gateway/cli/agents/claude.ts";
import { CODEX } from "#gateway/cli/agents/codex.ts";
import { KEY_VARIABLE, SESSION_VARIABLE } from "#gateway/cli/agents/variables.ts";
import { newId } from "#shared/ids.ts";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { dumpOf, filesBelow, found } from "#test/support/canaries.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Agents as they are published, with hooks that tell the gateway of their tools, against a vendor on loopback.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");
const gemini = await agentProgram("gemini-cli");

const CANARY = { name: "canary", text: "canary-91bd-of-the-prompt" };
const PROMPT = `Do what the vendor says, and keep ${CANARY.text} to yourself.`;
const REASON = "Nothing is fetched from the web here.";
const USAGE = {
  ...{ input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 },
  ...{ promptTokenCount: 210, candidatesTokenCount: 12, totalTokenCount: 222 },
};

const bash = (id: string, command: string) => ({
  name: "Bash",
  arguments: JSON.stringify({ command, description: "A command" }),
  id,
});
const FETCH = {
  name: "WebFetch",
  arguments: JSON.stringify({ url: "http://127.0.0.1:9/", prompt: CANARY.text }),
  id: "toolu_denied",
};

/** Only tool calls are reported. */
const LEFT_ALONE = { gateway: false, required: false };

let vendor: LLMock;
/** What the vendor was sent, as text. */
let asked: string[] = [];
let door: ReturnType<typeof Bun.serve>;
/** What hooks sent, as text, on its way to the gateway. */
let told: string[] = [];
let hooks: ReturnType<typeof Bun.serve>;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const first = (word: string, tool = "Bash") => ({
    hasToolResult: false,
    predicate: (request: ChatCompletionRequest) =>
      request.tools?.some(({ function: it }) => it.name === tool) === true &&
      JSON.stringify(request.messages).includes(word),
  });
  const uses = (name: string, commands: object[]) =>
    commands.map((input, i) => ({ name, arguments: JSON.stringify(input), id: `call_${name}_${i}` }));
  const shell = ["echo hello", `forbidden ${CANARY.text}`].map((cmd) => ({ cmd }));
  vendor.on(first("", "exec_command"), { toolCalls: uses("exec_command", shell), usage: USAGE });
  const reads = ["here.txt", "nowhere.txt"].map((file_path) => ({ file_path }));
  vendor.on(first("", "read_file"), { toolCalls: uses("read_file", reads), usage: USAGE });
  const slow = [bash("toolu_slow", "sleep 30")];
  const three = [bash("toolu_allowed", "echo hello > ran.txt"), bash("toolu_failed", "exit 3"), FETCH];
  vendor.on(first("slowly"), { toolCalls: slow, usage: USAGE });
  vendor.on(first(""), { toolCalls: three, usage: USAGE });
  vendor.on({}, { content: "Done.", usage: USAGE });
  door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      asked.push(body);
      const { pathname, search } = new URL(request.url);
      return fetch(vendor.url + pathname + search, {
        method: request.method,
        headers: request.headers,
        ...(body !== "" && { body }),
      });
    },
  });
  gateway = await wiredGateway({ chat: vendor.url, messages: vendor.url }, { LOG_LEVEL: "debug" });
  hooks = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      told.push(body);
      const { method, headers } = request;
      return fetch(gateway.url + new URL(request.url).pathname, { method, headers, body });
    },
  });
  await gateway.admin("PUT", "/hook-policies/no-web", { tool: "WebFetch", reason: REASON });
});
afterAll(async () => {
  await hooks.stop(true);
  await door.stop(true);
  await vendor.stop();
});

type Row = { external_id: string; status: string; session: string; tool: string; latency_ms: number | null };

async function home() {
  const path = await mkdtemp(join(tmpdir(), "agent-"));
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: newId() });
  const settings = JSON.parse(CLAUDE.managed.text(`http://127.0.0.1:${hooks.port}`, LEFT_ALONE));
  // Not among those that the product asks for: an administrator may send more than it wants.
  settings.hooks.UserPromptSubmit = settings.hooks.SessionEnd;
  await Bun.write(join(path, "managed-settings.json"), JSON.stringify(settings));
  asked = [];
  told = [];
  const env = {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    API_TIMEOUT_MS: "20000",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${door.port}`,
    ANTHROPIC_API_KEY: "sk-ant-api03-of-the-vendor",
    [KEY_VARIABLE]: key.secret,
  };
  const rows = async (settled: (rows: Row[]) => boolean) => {
    let found: Row[] = [];
    await until(async () => {
      found = await gateway.sql<Row[]>`
        select external_id, status, session, tool, latency_ms from tool_calls where key_id = ${key.id} order by external_id`;
      return settled(found);
    });
    return found;
  };
  return { path, env, rows, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Puts the settings where an administrator would, in a view of the file system that only the agent has. Where that is
 * not allowed, they are given as an argument.
 */
const placing = (path: string) => `mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w &&
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w /etc && mkdir -p ${dirname(path)} &&
cp "$0" ${path}`;
const canBeManaged =
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "-m", "sh", "-c", placing("/etc/tallygate/none"), "/dev/null"], {
    stderr: "ignore",
  }).success;

/** The agent's command, with `file` where administrators put it. */
function managed(name: "claude" | "codex" | "gemini", file: string, command: string[]): string[] {
  const path = AGENTS[name].managed?.paths.linux ?? "";
  return ["unshare", "-m", "sh", "-c", `${placing(path)} && exec "$@"`, file, ...command];
}

function commandFor(path: string, words: string[]): string[] {
  const file = join(path, "managed-settings.json");
  const command = [...(claude ?? []), ...words, "--allowedTools", "Bash", "WebFetch", "--strict-mcp-config"];
  return canBeManaged ? managed("claude", file, command) : [...command, "--settings", file];
}

/** No text of the prompt, of arguments or of results is anywhere that the gateway writes. */
async function expectNoTrace(event = "UserPromptSubmit"): Promise<void> {
  const [prompt] = told.filter((body) => body.includes(`"${event}"`));
  expect(prompt).toContain(CANARY.text);
  for (const [, text] of await dumpOf(gateway.sql)) expect(found([CANARY], text)).toEqual([]);
  expect(found([CANARY], gateway.log())).toEqual([]);
  for (const [, bytes] of filesBelow(gateway.dataDir)) expect(found([CANARY], bytes)).toEqual([]);
}

describe.skipIf(claude === null)("claude code with managed hooks", () => {
  test("an allowed, a failed and a denied call are one row each; the denial reaches the model; a prompt leaves no trace", async () => {
    const it = await home();
    try {
      const words = ["-p", PROMPT, "--output-format", "json"];
      const { stdout } = await runAgent(commandFor(it.path, words), { home: it.path, env: it.env });
      const { session_id, is_error } = JSON.parse(stdout);
      expect(is_error).toBe(false);
      const rows = await it.rows((them) => them.filter(({ status }) => status !== "pending").length === 3);
      const run = { session: session_id, latency_ms: expect.any(Number) };
      expect(rows).toEqual([
        { ...run, external_id: "toolu_allowed", tool: "Bash", status: "ok" },
        { ...run, external_id: "toolu_denied", tool: "WebFetch", status: "denied", latency_ms: null },
        { ...run, external_id: "toolu_failed", tool: "Bash", status: "failed" },
      ]);
      expect(asked.some((body) => body.includes(REASON))).toBe(true);
      await expectNoTrace();
    } finally {
      await it.remove();
    }
  });

  test.each([
    { required: true, runs: false },
    { required: false, runs: true },
  ])("while the gateway is away: %j", async ({ required, runs }) => {
    const it = await home();
    try {
      const settings = CLAUDE.managed.text("http://127.0.0.1:9", { gateway: false, required });
      await Bun.write(join(it.path, "managed-settings.json"), settings);
      const words = ["-p", PROMPT, "--output-format", "json"];
      await runAgent(commandFor(it.path, words), { home: it.path, env: it.env });
      expect(asked.length).toBeGreaterThan(1);
      expect(await Bun.file(join(it.path, "ran.txt")).exists()).toBe(runs);
    } finally {
      await it.remove();
    }
  });

  test("under a session of ours its calls are that session's", async () => {
    const it = await home();
    try {
      const env = { ...it.env, [SESSION_VARIABLE]: "branch-1" };
      const words = ["-p", PROMPT, "--output-format", "json"];
      await runAgent(commandFor(it.path, words), { home: it.path, env });
      const rows = await it.rows((them) => them.filter(({ status }) => status !== "pending").length === 3);
      expect(new Set(rows.map(({ session }) => session))).toEqual(new Set(["branch-1"]));
    } finally {
      await it.remove();
    }
  });

  test("a call that the person interrupts is unknown once the session ends", async () => {
    const it = await home();
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const state = {
      hasCompletedOnboarding: true,
      theme: "dark",
      customApiKeyResponses: { approved: [it.env.ANTHROPIC_API_KEY.slice(-20)], rejected: [] },
      projects: { [it.path]: trusted },
    };
    await Bun.write(join(it.path, ".claude.json"), JSON.stringify(state));
    const terminal = new Bun.Terminal({ cols: 100, rows: 40 });
    const agent = Bun.spawn(commandFor(it.path, [`${PROMPT} Do it slowly.`]), {
      cwd: it.path,
      env: {
        ...it.env,
        PATH: process.env["PATH"] ?? "",
        HOME: it.path,
        TMPDIR: it.path,
        SHELL: "/bin/sh",
        TERM: "xterm",
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1",
      },
      terminal,
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    try {
      const [pending] = await it.rows((them) => them.length > 0);
      expect(pending).toMatchObject({ external_id: "toolu_slow", status: "pending" });
      // The tool has only just been asked for.
      await Bun.sleep(1500);
      terminal.write("\x1b");
      await Bun.sleep(2500);
      terminal.write("/exit\r");
      await Bun.sleep(500);
      terminal.write("\r");
      await agent.exited;
      const rows = await it.rows(([row]) => row?.status !== "pending");
      expect(rows).toMatchObject([{ external_id: "toolu_slow", status: "unknown", tool: "Bash" }]);
      await expectNoTrace();
    } finally {
      agent.kill("SIGKILL");
      terminal.close();
      await it.remove();
    }
  });
});

/** An agent's file for administrators. A hook for prompts is added: administrators may send more than the product wants. */
async function managedFile(name: "codex" | "gemini", path: string): Promise<{ file: string; url: string }> {
  const url = `http://127.0.0.1:${hooks.port}`;
  const file = join(path, "managed");
  await Bun.write(file, AGENTS[name].managed?.text(url, { gateway: true, required: false }) ?? "");
  return { file, url };
}

describe.skipIf(codex === null || !canBeManaged)("codex with managed hooks", () => {
  test("its calls are one row each, and what a policy denies does not run", async () => {
    const it = await home();
    await gateway.admin("PUT", "/hook-policies/no-shell", { client: "codex", tool: "Bash", enabled: false });
    try {
      const { file, url } = await managedFile("codex", it.path);
      const prompts = CODEX.managed
        .text(url, LEFT_ALONE)
        .replaceAll("PreToolUse", "UserPromptSubmit")
        .split("\n\n")[0];
      await Bun.write(file, `${await Bun.file(file).text()}\n${prompts}`);
      await Bun.write(join(it.path, ".codex/config.toml"), CODEX_CONFIG(`http://127.0.0.1:${door.port}/v1`));
      const words = ["exec", "--json", "--skip-git-repo-check", "-m", "gpt-5", PROMPT];
      const command = managed("codex", file, [...(codex ?? []), ...words]);
      const run = () => runAgent(command, { home: it.path, env: it.env });
      await run();
      const ids = ["call_exec_command_0", "call_exec_command_1"];
      const rows = await it.rows((them) => them.filter(({ status }) => status === "ok").length === 2);
      expect(rows.map(({ external_id, tool }) => [external_id, tool])).toEqual(ids.map((id) => [id, "Bash"]));
      await expectNoTrace();

      await gateway.sql`delete from tool_calls`;
      await gateway.admin("PATCH", "/hook-policies/no-shell", { enabled: true, reason: REASON });
      asked = [];
      await run();
      const denied = await it.rows((them) => them.length === 2);
      expect(denied.map(({ status }) => status)).toEqual(["denied", "denied"]);
      expect(asked.some((body) => body.includes(REASON))).toBe(true);
    } finally {
      await it.remove();
    }
  });
});

const CODEX_CONFIG = (url: string) => `
model_provider = "vendor"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.vendor]
name = "vendor"
base_url = "${url}"
wire_api = "responses"
env_key = "ANTHROPIC_API_KEY"
`;

describe.skipIf(gemini === null || !canBeManaged)("gemini cli with managed hooks", () => {
  test("the ends of its calls are rows, and an error is a failure", async () => {
    const it = await home();
    try {
      const { file } = await managedFile("gemini", it.path);
      const settings = JSON.parse(await Bun.file(file).text());
      settings.hooks.BeforeAgent = settings.hooks.SessionEnd;
      await Bun.write(file, JSON.stringify(settings));
      await Bun.write(join(it.path, "here.txt"), CANARY.text);
      const words = ["-p", PROMPT, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"];
      await runAgent(managed("gemini", file, [...(gemini ?? []), ...words]), {
        home: it.path,
        env: {
          ...it.env,
          GEMINI_API_KEY: "key-of-the-vendor",
          GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${door.port}`,
          GEMINI_CLI_TRUST_WORKSPACE: "true",
        },
      });
      const rows = await it.rows((them) => them.length === 2);
      expect(rows.map(({ status, tool }) => `${tool} ${status}`).toSorted()).toEqual([
        "read_file failed",
        "read_file ok",
      ]);
      await expectNoTrace("BeforeAgent");
    } finally {
      await it.remove();
    }
  });
});
