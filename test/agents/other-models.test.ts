import { beforeAll, describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { scratch } from "#test/support/embedded.ts";
import { type StrictClaude, strictClaude } from "#test/support/strict-claude.ts";
import { type StrictOpenAi, strictOpenAi } from "#test/support/strict-openai.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";
import { SKY, SKY_TOOLS } from "./sky.ts";

// Coding agents as they are published, at a model of another vendor, with the tools of a server of their own.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");
const gemini = await agentProgram("gemini-cli");

let vendor: StrictOpenAi;
let anthropic: StrictClaude;
let gateway: WiredGateway;

beforeAll(async () => {
  vendor = strictOpenAi();
  anthropic = strictClaude();
  gateway = await wiredGateway({ chat: `${vendor.url}/v1`, messages: anthropic.url });
});

async function homeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const home = join(scratch().path, "agent");
  await mkdir(home, { recursive: true });
  for (const [name, text] of Object.entries({ "sky.ts": SKY_TOOLS, ...files }))
    await Bun.write(join(home, name), text);
  return home;
}

describe.skipIf(codex === null)("codex", () => {
  // Of the last, Codex knows that it is OpenAI's, and the gateway that it is not.
  test.each(["gpt-5.6-terra", "claude-opus-4-6", "gpt-5.6-luna"])(
    "speaks over its WebSocket at %s",
    async (model) => {
      anthropic.play(({ messages }) =>
        JSON.stringify(messages).includes("tool_result")
          ? [{ text: "It rains." }]
          : [{ call: "functions__exec", id: "toolu_1", input: { input: "text('rain')" } }],
      );
      if (model === "claude-opus-4-6") anthropic.play(() => [{ text: "It rains." }]);
      vendor.forget();
      const luna = { surface: "chat", provider: "messages-vendor", model: "claude-opus-4-6" };
      await gateway.admin("PUT", "/routes/gpt-5.6-luna", luna);
      const home = await homeWith({
        ".codex/config.toml": `model_provider = "gateway"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${gateway.url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
supports_websockets = true
`,
      });
      const asking = ["exec", "--json", "--skip-git-repo-check", "-m", model, "Weather?"];
      const ran = await runAgent([...(codex ?? []), ...asking], {
        home,
        env: { GATEWAY_KEY: gateway.secret },
      });
      expect([anthropic.refused, vendor.refused, ran.stdout]).toEqual([
        [],
        [],
        expect.stringContaining("It rains."),
      ]);
      // Only what came over a WebSocket reached OpenAI.
      expect([vendor.paths, vendor.messages.length > 0]).toEqual([[], model === "gpt-5.6-terra"]);
    },
  );

  test("calls tools of its servers at a Claude, which reach it as functions", async () => {
    anthropic.play(({ messages, tools = [] }) => {
      if (JSON.stringify(messages.at(-1)).includes("tool_result")) return [{ text: "It rains." }];
      const found = tools.find((tool) => "name" in tool && tool.name.endsWith("weather"));
      return found && "name" in found
        ? [{ call: found.name, id: "toolu_1", input: { city: "Oslo" } }]
        : [{ text: "No tools." }];
    });
    const home = await homeWith({
      ".codex/config.toml": `model_provider = "gateway"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.gateway]
name = "gateway"
base_url = "${gateway.url}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"
[mcp_servers.sky]
command = "${process.execPath}"
args = ["sky.ts"]
required = true
`,
    });
    const asking = ["exec", "--json", "--skip-git-repo-check", "-m", "claude-opus-4-6", "Weather?"];
    const ran = await runAgent([...(codex ?? []), ...asking], { home, env: { GATEWAY_KEY: gateway.secret } });
    expect([anthropic.refused, ran.stdout]).toEqual([[], expect.stringContaining("It rains.")]);
    expect(JSON.stringify(anthropic.seen.at(-1)?.messages)).toContain("rain over Oslo");
  });
});

describe.skipIf(claude === null)("claude code", () => {
  test("calls tools of its servers at a reasoning model of OpenAI's", async () => {
    const mcpServers = { sky: SKY };
    const home = await homeWith({ "servers.json": JSON.stringify({ mcpServers }) });
    const asking = ["-p", "Weather?", "--output-format", "json", "--model", "gpt-5.6-terra"];
    const servers = ["--mcp-config", "servers.json", "--strict-mcp-config", "--allowedTools", "mcp__sky"];
    const ran = await runAgent([...(claude ?? []), ...asking, ...servers], {
      home,
      env: {
        ANTHROPIC_BASE_URL: gateway.url,
        ANTHROPIC_AUTH_TOKEN: gateway.secret,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        ENABLE_TOOL_SEARCH: "false",
        MCP_CONNECT_TIMEOUT_MS: "120000",
      },
    });
    expect([vendor.refused, ran.stdout]).toEqual([[], expect.stringContaining("It rains.")]);
    const sent = JSON.stringify(vendor.requests.at(-1)?.input);
    expect([sent.includes("rain over Bergen"), sent.includes('"type":"reasoning"')]).toEqual([true, true]);
  });
});

describe.skipIf(gemini === null)("gemini cli", () => {
  test("returns the thoughts of a Claude before the text and the call that followed them", async () => {
    anthropic.play(({ messages }) =>
      JSON.stringify(messages.at(-1)).includes("tool_result")
        ? [{ text: "It rains." }]
        : [{ text: "I look." }, { call: "read_file", id: "toolu_1", input: { file_path: "here.txt" } }],
    );
    const home = await homeWith({
      "here.txt": "rain over Oslo",
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        modelConfigs: {
          customOverrides: [
            {
              match: { model: "claude-sonnet-4-5" },
              modelConfig: {
                generateContentConfig: { thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } },
              },
            },
          ],
        },
      }),
    });
    const asking = ["-m", "claude-sonnet-4-5", "-p", "Read here.txt.", "--approval-mode", "yolo"];
    const ran = await runAgent([...(gemini ?? []), ...asking], {
      home,
      env: {
        GEMINI_API_KEY: gateway.secret,
        GOOGLE_GEMINI_BASE_URL: gateway.url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
    });
    expect(ran.stdout, ran.stderr.slice(-2000)).toContain("It rains.");
    expect(anthropic.refused).toEqual([]);
    const { content = [] } =
      anthropic.seen.at(-1)?.messages.findLast(({ role }) => role === "assistant") ?? {};
    expect((content as { type: string }[]).map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
  });
});
