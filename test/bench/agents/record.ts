/**
 * `bun test/bench/agents/record.ts`: runs each coding agent as it is published, through a gateway, with a model of its own format
 * and one of another, and writes its calls to test/fixtures/agents: the first one that offers tools to the model, those that
 * the gateway refuses, and the last one, which has the result of a tool. Only the form of a call is kept: its maker's texts and
 * what could tell of a machine are left out.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { isRecord } from "#shared/json.ts";
import { keysOf } from "#shared/keys-of.ts";
import { type AgentName, agentProgram, runAgent } from "#test/support/agents.ts";
import { wiredGateway } from "#test/support/wired-gateway.ts";

const FIXTURES = join(import.meta.dir, "../../fixtures/agents");
const PROMPT = "Please leave the proof.";
const COMMAND = "echo left-by-agent > proof.txt";

const vendor = await LLMock.create({ port: 0 });
const usage = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };
for (const { tool, input } of [
  { tool: "Bash", input: { command: COMMAND, description: "Leaves the proof" } },
  { tool: "bash", input: { command: COMMAND, description: "Leaves the proof" } },
  { tool: "run_shell_command", input: { command: COMMAND, description: "Leaves the proof" } },
  { tool: "exec_command", input: { cmd: COMMAND } },
]) {
  const predicate = (request: ChatCompletionRequest) =>
    request.tools?.some(({ function: it }) => it?.name === tool) === true;
  const call = { name: tool, arguments: JSON.stringify(input), id: `toolu_${tool}` };
  vendor.on({ hasToolResult: false, predicate }, { toolCalls: [call], usage });
}
vendor.on({ hasToolResult: true }, { content: "The proof is left.", usage });
vendor.on({}, { content: "Proof", usage });

const gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
await gateway.admin("PUT", "/providers/google", {
  kind: "gemini",
  base_url: `${vendor.url}/v1beta/openai`,
  credential: "of-the-vendor",
  allow_private_network: true,
  enabled: true,
});

type Recorded = { path: string; headers: Record<string, string>; body: unknown; status: number };

let seen: Recorded[] = [];
const recorder = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = await request.text();
    const answer = await fetch(gateway.url + pathname + search, {
      method,
      headers,
      ...(body !== "" && { body }),
    });
    const path = pathname + search;
    if (method === "POST" && body.startsWith("{"))
      seen.push({ path, headers: headers.toJSON(), body: JSON.parse(body), status: answer.status });
    return answer;
  },
});
const url = `http://127.0.0.1:${recorder.port}`;
const KEY = gateway.secret;
const QUIET = { usageStatisticsEnabled: false };

type Way = {
  /** A model of its own format, and one of another. */
  models: readonly [string, string];
  words(model: string): readonly string[];
  env(model: string): Record<string, string>;
  files?(model: string): Record<string, unknown>;
};

const GPT = ["gpt-4o", "claude-opus-4-6"] as const;

const WAYS: Readonly<Record<AgentName, Way>> = {
  "claude-code": {
    models: ["claude-opus-4-6", "gpt-4o"],
    words: (model) => ["-p", PROMPT, "--allowedTools", "Bash", "--strict-mcp-config", "--model", model],
    env: () => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  codex: {
    models: GPT,
    words: (model) => ["exec", "--skip-git-repo-check", "-m", model, PROMPT],
    env: () => ({ GATEWAY_KEY: KEY }),
    files: () => ({
      ".codex/config.toml": `model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
`,
    }),
  },
  opencode: {
    models: GPT,
    words: (model) => ["run", "--model", `gateway/${model}`, PROMPT],
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    files: (model) => ({
      "opencode.json": {
        autoupdate: false,
        share: "disabled",
        permission: { bash: "allow" },
        provider: {
          gateway: {
            npm: "@ai-sdk/openai-compatible",
            name: "gateway",
            options: { baseURL: `${url}/v1`, apiKey: KEY },
            models: { [model]: { name: model } },
          },
        },
      },
    }),
  },
  "gemini-cli": {
    models: ["gemini-2.5-pro", "gpt-4o"],
    words: (model) => ["-p", PROMPT, "-m", model, "--approval-mode", "yolo"],
    env: () => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    files: () => ({
      ".gemini/settings.json": {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: QUIET,
        general: { enableAutoUpdate: false },
      },
    }),
  },
  "qwen-code": {
    models: GPT,
    words: () => ["-p", PROMPT, "--yolo", "--auth-type", "openai"],
    env: (model) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model }),
    files: () => ({ ".qwen/settings.json": { privacy: QUIET, general: { enableAutoUpdate: false } } }),
  },
  copilot: {
    models: GPT,
    words: (model) => ["--model", model, "--allow-all", "-p", PROMPT],
    env: () => ({
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: KEY,
    }),
  },
};

/** Of the connection, or a credential. */
const LEFT_OUT = /^(host|connection|content-length|accept-encoding|authorization|x-api-key|x-goog-api-key)$/;
/** Text that the model reads, and an agent's maker wrote; nothing of a call's form depends on it. */
const PROSE = /^(text|content|description|instructions|system|definition)$/;
const LENGTH_MAX = 80;

/** The form of a body: long prose is cut, and a schema's words are left out. */
function formOf(value: unknown, name = ""): unknown {
  if (typeof value === "string") {
    const isCut = PROSE.test(name) && value.length > LENGTH_MAX;
    return (isCut ? "(text)" : value).replaceAll(home, "/home/ada").replaceAll(/\/tmp\/[^\s"']+/g, "/tmp/it");
  }
  if (Array.isArray(value)) return value.map((it) => formOf(it, name));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member, it]) => !(member === "description" && typeof it === "string"))
      .map(([member, it]) => [member, formOf(it, member)]),
  );
}

let home = "";

/** What an agent called with a model. */
async function callsOf(name: AgentName, program: readonly string[], model: string): Promise<Recorded[]> {
  const { words, env, files } = WAYS[name];
  home = await mkdtemp(join(tmpdir(), "agent-"));
  seen = [];
  for (const [path, text] of Object.entries(files?.(model) ?? {})) {
    await Bun.write(join(home, path), typeof text === "string" ? text : JSON.stringify(text));
  }
  const ran = await runAgent([...program, ...words(model)], { home, env: env(model) });
  await rm(home, { recursive: true, force: true });
  const offering = seen.filter(
    ({ body }) => isRecord(body) && Array.isArray(body["tools"]) && body["tools"].length > 0,
  );
  const kept = offering.filter(({ status }, at) => at === 0 || status >= 400 || at === offering.length - 1);
  if (kept.length < 2) throw new Error(`${name} made ${seen.length} calls of ${model}: ${ran.stderr}`);
  return kept.map(({ headers, body, ...call }) => ({
    ...call,
    headers: Object.fromEntries(Object.entries(headers).filter(([header]) => !LEFT_OUT.test(header))),
    body: formOf(body),
  }));
}

const [only] = process.argv.slice(2);
for (const name of keysOf(WAYS)) {
  const program = only === undefined || only === name ? await agentProgram(name) : null;
  if (program === null) continue;
  const recorded: Record<string, Recorded[]> = {};
  for (const model of WAYS[name].models) {
    recorded[model] = await callsOf(name, program, model);
    process.stdout.write(`${name} ${model}: ${recorded[model].map(({ status }) => status).join(" ")}\n`);
  }
  await Bun.write(join(FIXTURES, `${name}.generated.json`), `${JSON.stringify(recorded)}\n`);
}
await recorder.stop(true);
await gateway.close();
await vendor.stop();
process.exit(0);
