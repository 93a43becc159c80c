import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { newId } from "#shared/ids.ts";
import { type AgentRun, agentProgram, runAgent } from "#test/support/agents.ts";
import { until } from "#test/support/until.ts";
import {
  type StoredRecord,
  VENDOR_CREDENTIAL,
  type WiredGateway,
  wiredGateway,
} from "#test/support/wired-gateway.ts";

// The coding agents themselves, as their makers publish them, against a vendor on loopback.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");
const opencode = await agentProgram("opencode");

let vendor: LLMock;
let door: ReturnType<typeof Bun.serve>;
let gateway: WiredGateway;
/** The headers of every call of a model, as the vendor got them. */
let seen: Record<string, string>[] = [];

const PROMPT = "Please leave the proof.";
const FINAL = "The proof is left.";
const DELEGATE = "Please delegate it.";
const COMMAND = "echo left-by-agent > proof.txt";
const SUBSCRIPTION = "sk-ant-oat01-subscription-of-the-suite";

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const uses = (tool: string) => (request: ChatCompletionRequest) =>
    request.tools?.some(({ function: it }) => it.name === tool) === true;
  const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
  const task = { description: "Leaves the proof", prompt: PROMPT, subagent_type: "general" };
  vendor.on(
    {
      hasToolResult: false,
      predicate: (request) => uses("task")(request) && JSON.stringify(request.messages).includes(DELEGATE),
    },
    { toolCalls: [{ name: "task", arguments: JSON.stringify(task), id: "toolu_task" }], usage },
  );
  for (const { tool, input } of [
    { tool: "Bash", input: { command: COMMAND, description: "Leaves the proof" } },
    { tool: "bash", input: { command: COMMAND, description: "Leaves the proof" } },
    { tool: "exec_command", input: { cmd: COMMAND } },
    { tool: "shell_command", input: { command: COMMAND } },
    { tool: "shell", input: { command: ["sh", "-c", COMMAND] } },
  ]) {
    const call = { name: tool, arguments: JSON.stringify(input), id: `toolu_${tool}` };
    vendor.on({ hasToolResult: false, predicate: uses(tool) }, { toolCalls: [call], usage });
  }
  vendor.on({ hasToolResult: true }, { content: FINAL, usage });
  // What agents ask besides: titles, topics, summaries.
  vendor.on({}, { content: "Proof", usage });
  // The mock blots credentials out, so they are looked at before it.
  door = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch(request) {
      seen.push(request.headers.toJSON());
      return fetch(vendor.url + new URL(request.url).pathname, {
        method: request.method,
        headers: request.headers,
        body: request.body,
      });
    },
  });
  const url = `http://127.0.0.1:${door.port}`;
  gateway = await wiredGateway({ chat: `${url}/v1`, messages: url });
  await gateway.admin("PATCH", "/providers/messages-vendor", { trusted_for_passthrough: true });
  await gateway.admin("PUT", "/routes/claude-coding", {
    surface: "chat",
    provider: "messages-vendor",
    model: "claude-opus-4-6",
    subscription_passthrough: true,
  });
  await gateway.admin("PUT", "/routes/coding", { surface: "chat", provider: "chat-vendor", model: "gpt-4o" });
});

afterAll(async () => {
  await door.stop(true);
  await vendor.stop();
});

/** What every record of an answered call says, whoever asked. */
const ANSWERED = {
  state: "ok",
  status: 200,
  attempts: 1,
  user_label: null,
  usage_source: "provider",
  input_tokens: 210,
  output_tokens: 12,
  partial: false,
};

/** Where each route leads, so that every agent meets a model of its own vendor's format and one of the other's. */
const ROUTES: Record<string, object> = {
  "claude-coding": { route: "claude-coding", provider: "messages-vendor", model: "claude-opus-4-6" },
  coding: { route: "coding", provider: "chat-vendor", model: "gpt-4o" },
};
const PRESENTED: Record<string, Set<string | undefined>> = {
  "claude-coding": new Set([VENDOR_CREDENTIAL]),
  coding: new Set([`Bearer ${VENDOR_CREDENTIAL}`]),
};

/** A run in a home of its own, what it left there, and all that was recorded meanwhile. */
async function run(
  command: readonly string[],
  { env, files = {} }: { env(secret: string): Record<string, string>; files?: Record<string, string> },
) {
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: newId() });
  const home = await mkdtemp(join(tmpdir(), "agent-"));
  seen = [];
  try {
    for (const [path, text] of Object.entries(files)) await Bun.write(join(home, path), text);
    const result = await runAgent(command, { home, env: env(key.secret) });
    const proof = await Bun.file(join(home, "proof.txt"))
      .text()
      .catch(() => null);
    const records = await recorded(key.id, result);
    const presented = new Set(seen.map((headers) => headers["x-api-key"] ?? headers["authorization"]));
    return { ...result, secret: key.secret, proof, records, presented, headers: seen };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

type Row = StoredRecord & {
  channel: string;
  surface: string;
  agent_session: string | null;
  parent_session: string | null;
};

/** Every call that the vendor was asked for has its record. */
async function recorded(key: string, result: AgentRun): Promise<Row[]> {
  const calls = seen.length;
  if (calls < 2) throw new Error(`the agent made ${calls} calls:\n${result.stdout}\n${result.stderr}`);
  let rows: Row[] = [];
  await until(async () => {
    rows = await gateway.sql<typeof rows>`select * from requests where key_id = ${key} order by id`;
    return rows.length >= calls;
  });
  return rows;
}

const codexConfig = (url: string) => `
web_search = "live"
model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
request_max_retries = 0
stream_max_retries = 0
`;

const CLAUDE = [
  ...["-p", PROMPT, "--output-format", "json"],
  ...["--allowedTools", "Bash", "--strict-mcp-config"],
];
const CLAUDE_ENV = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  API_TIMEOUT_MS: "20000",
};

describe.skipIf(claude === null)("claude code", () => {
  const program = claude ?? [];
  const sessionOf = (stdout: string): string => JSON.parse(stdout).session_id;

  test.each(["claude-coding", "coding"])(
    "with a key, on route %s: a tool runs, an answer comes, and the calls are its session's",
    async (route) => {
      const it = await run([...program, ...CLAUDE, "--model", route], {
        env: (secret) => ({ ...CLAUDE_ENV, ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_API_KEY: secret }),
      });
      expect(JSON.parse(it.stdout)).toMatchObject({ is_error: false, result: FINAL });
      expect(it.proof).toBe("left-by-agent\n");
      // Deferred tools, which only its own vendor has, are offered to the others as well.
      for (const record of it.records) {
        expect(record).toMatchObject({
          ...ANSWERED,
          surface: "messages",
          client: "claude-code",
          session: sessionOf(it.stdout),
          channel: "api",
          ...ROUTES[route],
        });
      }
      expect(it.presented).toEqual(PRESENTED[route] ?? new Set());
    },
  );

  test("with a subscription: its own credential reaches the vendor, and the gateway's key does not", async () => {
    const it = await run([...program, ...CLAUDE, "--model", "claude-coding"], {
      env: (secret) => ({
        ...CLAUDE_ENV,
        ANTHROPIC_BASE_URL: gateway.url,
        ANTHROPIC_CUSTOM_HEADERS: `x-gateway-key: ${secret}`,
        CLAUDE_CODE_OAUTH_TOKEN: SUBSCRIPTION,
      }),
    });
    expect(JSON.parse(it.stdout)).toMatchObject({ is_error: false, result: FINAL });
    expect(it.proof).toBe("left-by-agent\n");
    for (const record of it.records) {
      expect(record).toMatchObject({
        ...ANSWERED,
        client: "claude-code",
        session: sessionOf(it.stdout),
        channel: "subscription",
        route: "claude-coding",
      });
    }
    expect(it.presented).toEqual(new Set([`Bearer ${SUBSCRIPTION}`]));
    expect(it.headers.every(({ "anthropic-beta": beta }) => beta?.includes("oauth-2025-04-20"))).toBe(true);
    expect(JSON.stringify(it.headers)).not.toContain(it.secret);
  });
});

describe.skipIf(codex === null)("codex", () => {
  test.each(["coding", "claude-coding"])(
    "on route %s: a tool runs, an answer comes, and the calls are its session's",
    async (route) => {
      const it = await run(
        [...(codex ?? []), "exec", "--json", "--skip-git-repo-check", "-m", route, PROMPT],
        {
          env: (GATEWAY_KEY) => ({ GATEWAY_KEY }),
          files: { ".codex/config.toml": codexConfig(gateway.url) },
        },
      );
      expect(it.stdout).toContain(FINAL);
      expect(it.proof).toBe("left-by-agent\n");
      const events = it.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const session = events.find(({ type }) => type === "thread.started").thread_id;
      for (const record of it.records) {
        expect(record).toMatchObject({
          ...ANSWERED,
          surface: "responses",
          client: "codex",
          session,
          ...ROUTES[route],
        });
      }
      expect(it.presented).toEqual(PRESENTED[route] ?? new Set());
    },
  );
});

describe.skipIf(opencode === null)("opencode", () => {
  type Way = { npm: string; route: string };
  const ask = (prompt: string, { npm, route }: Way) => {
    const config = {
      autoupdate: false,
      share: "disabled",
      permission: { bash: "allow", task: "allow" },
      provider: {
        gateway: {
          npm,
          name: "gateway",
          options: { baseURL: `${gateway.url}/v1`, apiKey: "{env:GATEWAY_KEY}" },
          models: { [route]: { name: route } },
        },
      },
    };
    return run([...(opencode ?? []), "run", "--model", `gateway/${route}`, prompt], {
      env: (GATEWAY_KEY) => ({
        GATEWAY_KEY,
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
      }),
      files: { "opencode.json": JSON.stringify(config) },
    });
  };

  test.each([
    { surface: "messages", npm: "@ai-sdk/anthropic", route: "claude-coding" },
    { surface: "messages", npm: "@ai-sdk/anthropic", route: "coding" },
    { surface: "chat.completions", npm: "@ai-sdk/openai-compatible", route: "coding" },
    { surface: "chat.completions", npm: "@ai-sdk/openai-compatible", route: "claude-coding" },
  ])(
    "on $surface, on route $route: a tool runs, an answer comes, and the calls are its session's",
    async (way) => {
      const it = await ask(PROMPT, way);
      expect(it.stdout).toContain(FINAL);
      expect(it.proof).toBe("left-by-agent\n");
      for (const record of it.records) {
        expect(record).toMatchObject({
          ...ANSWERED,
          surface: way.surface,
          client: "opencode",
          ...ROUTES[way.route],
        });
      }
      const [session, ...others] = new Set(it.records.map((record) => record.session));
      expect(session).toMatch(/^ses_\w+$/);
      expect(others).toEqual([]);
      expect(it.presented).toEqual(PRESENTED[way.route] ?? new Set());
    },
  );

  test("a sub-agent's calls are its parent's session's, and name its own", async () => {
    const it = await ask(DELEGATE, { npm: "@ai-sdk/openai-compatible", route: "coding" });
    expect(it.stdout).toContain(FINAL);
    expect(it.proof).toBe("left-by-agent\n");
    const [parent, ...others] = new Set(it.records.map(({ session }) => session));
    expect([parent, others]).toEqual([expect.stringMatching(/^ses_\w+$/), []]);
    // The child asks twice: for its tool, and with what that gave.
    const children = it.records.filter(({ agent_session }) => agent_session !== null);
    expect(children.length).toBeGreaterThanOrEqual(2);
    expect(new Set(children.map(({ agent_session }) => agent_session)).size).toBe(1);
    for (const child of children) {
      expect(child).toMatchObject({ ...ANSWERED, client: "opencode", parent_session: parent });
      expect(child.agent_session).not.toBe(parent);
    }
    const own = it.records.filter(({ agent_session }) => agent_session === null);
    expect(own.length).toBeGreaterThanOrEqual(2);
    expect(own.map(({ parent_session }) => parent_session)).toEqual(own.map(() => null));
  });
});
