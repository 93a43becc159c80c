import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { newId } from "#shared/ids.ts";
import { keysOf } from "#shared/keys-of.ts";
import { type AgentName, agentProgram, runAgent } from "#test/support/agents.ts";
import { scratch } from "#test/support/embedded.ts";
import { until } from "#test/support/until.ts";
import {
  ANSWER,
  billOf,
  LOST_THOUGHTS,
  MODELS,
  type VendorModel,
  type VendorModels,
  vendorModels,
} from "#test/support/vendor-models.ts";
import { SKY, SKY_TOOLS } from "./sky.ts";

// Any agent on any model: each coding agent as it is published at a model of each vendor, over three turns of one session, each with
// two calls at once of a tool of its own server. The stand-ins refuse what the vendors refuse, and bill their tokens.

let world: VendorModels;

beforeAll(async () => {
  world = await vendorModels();
});

type Way = {
  /** The words of a turn; later ones continue the session. */
  words(model: VendorModel, turn: number): readonly string[];
  env(secret: string): Record<string, string>;
  files(model: VendorModel): Record<string, string | object>;
};

const QUESTIONS = ["Weather?", "And now?", "And later?"];
const asked = (turn: number): string => QUESTIONS[turn] ?? "";
/** Words that later turns have besides. */
const later = (turn: number, ...words: string[]): string[] => (turn === 0 ? [] : words);
const root = () => `${world.gateway.url}/v1`;
const QUIET = {
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};
const TRUSTED = { mcpServers: { sky: { ...SKY, trust: true } } };

const WAYS: Readonly<Record<AgentName, Way>> = {
  "claude-code": {
    words: (model, turn) => [
      ...["-p", asked(turn), "--model", model, ...later(turn, "--continue")],
      ...["--mcp-config", "servers.json", "--strict-mcp-config", "--allowedTools", "mcp__sky"],
    ],
    env: (secret) => ({
      ANTHROPIC_BASE_URL: world.gateway.url,
      ANTHROPIC_AUTH_TOKEN: secret,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      ENABLE_TOOL_SEARCH: "false",
      MCP_CONNECT_TIMEOUT_MS: "120000",
    }),
    files: () => ({ "servers.json": { mcpServers: { sky: SKY } } }),
  },
  codex: {
    words: (model, turn) => [
      ...["exec", "--skip-git-repo-check", "-m", model, ...later(turn, "resume", "--last")],
      asked(turn),
    ],
    env: (GATEWAY_KEY) => ({ GATEWAY_KEY }),
    files: () => ({
      ".codex/config.toml": `model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${root()}"
wire_api = "responses"
env_key = "GATEWAY_KEY"
[mcp_servers.sky]
command = "${SKY.command}"
args = ${JSON.stringify(SKY.args)}
required = true
`,
    }),
  },
  "gemini-cli": {
    // A session that it resumes repeats the results of tools, which Google refuses; its turns at Google's are sessions of their own.
    words: (model, turn) => [
      ...["-m", model, "--approval-mode", "yolo"],
      ...(model.startsWith("gemini") ? [] : later(turn, "--resume", "latest")),
      ...["-p", asked(turn)],
    ],
    env: (secret) => ({
      GEMINI_API_KEY: secret,
      GOOGLE_GEMINI_BASE_URL: world.gateway.url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    files: () => ({
      ".gemini/settings.json": {
        ...QUIET,
        ...TRUSTED,
        security: { auth: { selectedType: "gemini-api-key" } },
      },
    }),
  },
  opencode: {
    words: (model, turn) => ["run", "--model", `gateway/${model}`, ...later(turn, "--continue"), asked(turn)],
    env: (GATEWAY_KEY) => ({
      GATEWAY_KEY,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    }),
    files: (model) => ({
      "opencode.json": {
        autoupdate: false,
        share: "disabled",
        mcp: { sky: { type: "local", command: [SKY.command, ...SKY.args] } },
        provider: {
          gateway: {
            npm: "@ai-sdk/openai-compatible",
            name: "gateway",
            options: { baseURL: root(), apiKey: "{env:GATEWAY_KEY}" },
            models: { [model]: { name: model } },
          },
        },
      },
    }),
  },
  copilot: {
    words: (model, turn) => [
      "--model",
      model,
      "--allow-all",
      ...later(turn, "--continue"),
      "-p",
      asked(turn),
    ],
    env: (secret) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: root(),
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_API_KEY: secret,
    }),
    files: () => ({
      ".copilot/mcp-config.json": { mcpServers: { sky: { type: "local", ...SKY, tools: ["*"] } } },
    }),
  },
  "qwen-code": {
    words: (model, turn) => [
      ...["--auth-type", "openai", "-m", model, "--yolo", ...later(turn, "--continue")],
      ...["-p", asked(turn)],
    ],
    env: (secret) => ({ OPENAI_API_KEY: secret, OPENAI_BASE_URL: root() }),
    files: () => ({
      ".qwen/settings.json": { ...QUIET, ...TRUSTED, $version: 4, tools: { toolSearch: { enabled: false } } },
    }),
  },
};

for (const agent of keysOf(WAYS)) {
  const program = await agentProgram(agent);
  describe.skipIf(program === null)(agent, () => {
    test.each(MODELS)("at %s: three turns of parallel calls, for what the vendor bills", async (model) => {
      const { gateway } = world;
      const key = await gateway.admin<{ id: string; secret: string }>("POST", "/keys", { name: newId() });
      const way = WAYS[agent];
      const home = join(scratch().path, "agent");
      const files = { "sky.ts": SKY_TOOLS, ...way.files(model) };
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(home, name)), { recursive: true });
        await Bun.write(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
      }
      world.forget();
      for (const turn of QUESTIONS.keys()) {
        const ran = await runAgent([...(program ?? []), ...way.words(model, turn)], {
          home,
          env: way.env(key.secret),
        });
        // Clients of chat completions lose the vendors' thoughts, so the gateway sends such a call twice.
        const refused = world.refused().filter((text) => !LOST_THOUGHTS.test(text));
        expect([refused, ran.stdout], ran.stderr.slice(-2000)).toEqual([[], expect.stringContaining(ANSWER)]);
      }
      // The results of both calls of each turn reached the model.
      expect(world.asked().match(/rain over/g)?.length).toBeGreaterThanOrEqual(6);
      // Two in each turn: what agents ask besides, such as titles, is billed, too.
      const answers = world.answered();
      expect(answers).toBeGreaterThanOrEqual(6);
      let records: { state: string; cost: number }[] = [];
      await until(async () => {
        records = await gateway.sql<typeof records>`
          select state, cost_usd::float8 as cost from requests where key_id = ${key.id}`;
        return records.length >= answers;
      });
      expect(new Set(records.map(({ state }) => state))).toEqual(new Set(["ok"]));
      expect(records.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(billOf(model, answers), 12);
    });
  });
}
