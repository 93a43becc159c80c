import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { priceCent } from "#test/limits/cent-vendor.ts";
import { type AgentName, agentProgram, runAgent } from "#test/support/agents.ts";
import { until } from "#test/support/until.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

// Coding agents as they are published, with a key whose budget is used up: each ends by itself, and says why.

let vendor: LLMock;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  vendor.on({}, { content: "Hm.", usage: { prompt_tokens: 21, completion_tokens: 3 } });
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: vendor.url });
  await gateway.admin("PUT", "/routes/coding", {
    surface: "chat",
    provider: "chat-vendor",
    model: "gpt-cent",
  });
  await priceCent(gateway, "gpt-cent");
});

afterAll(() => vendor.stop());

const PROMPT = "Say hello.";
const SAYS = /is used up\. The next one begins on/;

type Way = {
  words: readonly string[];
  env(secret: string): Record<string, string>;
  files?(): Record<string, string>;
};

const opencodeConfig = () => ({
  autoupdate: false,
  share: "disabled",
  provider: {
    gateway: {
      npm: "@ai-sdk/openai-compatible",
      name: "gateway",
      options: { baseURL: `${gateway.url}/v1`, apiKey: "{env:GATEWAY_KEY}" },
      models: { coding: { name: "coding" } },
    },
  },
});

/** With their own numbers of retries, which is what a refusal must stop. */
const WAYS: Readonly<Record<AgentName, Way>> = {
  "claude-code": {
    words: ["-p", PROMPT, "--strict-mcp-config", "--model", "coding"],
    env: (secret) => ({
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: secret,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  codex: {
    words: ["exec", "--skip-git-repo-check", "-m", "coding", PROMPT],
    env: (GATEWAY_KEY) => ({ GATEWAY_KEY }),
    files: () => ({
      ".codex/config.toml": `model_provider = "gateway"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${gateway.url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
`,
    }),
  },
  opencode: {
    words: ["run", "--model", "gateway/coding", PROMPT],
    env: (GATEWAY_KEY) => ({
      GATEWAY_KEY,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }),
    files: () => ({ "opencode.json": JSON.stringify(opencodeConfig()) }),
  },
  "gemini-cli": {
    words: ["-p", PROMPT, "-m", "coding"],
    env: (secret) => ({
      GEMINI_API_KEY: secret,
      GOOGLE_GEMINI_BASE_URL: gateway.url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    files: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    }),
  },
  "qwen-code": {
    words: ["-p", PROMPT, "--auth-type", "openai"],
    env: (secret) => ({
      OPENAI_API_KEY: secret,
      OPENAI_BASE_URL: `${gateway.url}/v1`,
      OPENAI_MODEL: "coding",
    }),
    files: () => ({
      ".qwen/settings.json": JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    }),
  },
  copilot: {
    words: ["--model", "coding", "--allow-all", "-p", PROMPT],
    env: (secret) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${gateway.url}/v1`,
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: secret,
    }),
  },
};

/**
 * An agent's key with a cent, and the cent is spent. Its name has no digits: opencode tries a call again five times if `429`, `502`
 * or the like is anywhere in the answer's text, which names the key.
 */
async function spentKey(agent: string): Promise<{ id: string; secret: string }> {
  const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", {
    name: `spent by ${agent}`,
    limits: { budget_usd: "0.01" },
  });
  const ask = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "coding", max_tokens: 8, messages: [{ role: "user", content: "Hi" }] }),
    });
  expect((await ask()).status).toBe(200);
  expect((await ask()).status).toBe(402);
  return key;
}

/** More than an agent's side calls (titles, topics) need, and fewer than one that retries makes. */
const REFUSALS_MAX = 6;

for (const [name, way] of Object.entries(WAYS)) {
  // The table's members are exactly these names.
  const program = await agentProgram(name as AgentName);
  test.skipIf(program === null)(`${name} ends, and shows the message`, async () => {
    const key = await spentKey(name);
    const home = await mkdtemp(join(tmpdir(), "agent-"));
    try {
      for (const [path, text] of Object.entries(way.files?.() ?? {})) await Bun.write(join(home, path), text);
      const ran = await runAgent([...(program ?? []), ...way.words], { home, env: way.env(key.secret) });
      const said = `${ran.stdout}\n${ran.stderr}`;
      // Null, or a signal's status: it had to be killed.
      expect(ran.status, said).toBeLessThan(128);
      expect(said).toMatch(SAYS);
      let refused: { error_type: string | null }[] = [];
      await until(async () => {
        refused = await gateway.sql<typeof refused>`
          select error_type from requests where key_id = ${key.id} and status = 402`;
        return refused.length > 1;
      });
      expect(new Set(refused.map(({ error_type }) => error_type))).toEqual(new Set(["budget_exhausted"]));
      // One of them is the test's own.
      expect(refused.length - 1).toBeLessThanOrEqual(REFUSALS_MAX);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
}
