import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { CLAUDE } from "#gateway/cli/agents/claude.ts";
import { forwarder } from "#gateway/cli/agents/managed.ts";
import { agentProgram, runAgent } from "#test/support/agents.ts";
import { startToolGateway, type ToolGateway } from "#test/support/tool-server/gateway.ts";
import { until } from "#test/support/until.ts";

// Coding agents as they are published, with the tool gateway among their servers and a vendor on loopback.

const claude = await agentProgram("claude-code");
const codex = await agentProgram("codex");

/** Claude Code tells tool servers no session of its own. */
const SESSION = "x-session-id: claude-run";
const FINAL = "Both tools have answered.";
const SCOPES = { mcp: ["old__echo", "old__test_error_handling", "new__echo"] };
const USAGE = { input_tokens: 210, output_tokens: 12, prompt_tokens: 210, completion_tokens: 12 };

let vendor: LLMock;
let gateway: ToolGateway;
let home: string;
/** What the model was told at last. */
let heard = "";

beforeAll(async () => {
  vendor = await LLMock.create({ port: 0 });
  const uses = (name: string) => (request: { tools?: { function: { name: string } }[] }) =>
    request.tools?.some((tool) => tool.function.name === name) === true;
  const toolCalls = ["old__echo", "new__echo", "old__test_error_handling"].map((name, index) => ({
    name: `mcp__tallygate__${name}`,
    arguments: JSON.stringify(name.endsWith("echo") ? { words: `from ${name}` } : {}),
    id: `toolu_${index}`,
  }));
  vendor.on(
    { hasToolResult: false, predicate: uses("mcp__tallygate__old__echo") },
    { toolCalls, usage: USAGE },
  );
  const hears = (request: { messages: unknown }) => {
    heard = JSON.stringify(request.messages);
    return true;
  };
  vendor.on({ hasToolResult: true, predicate: hears }, { content: FINAL, usage: USAGE });
  vendor.on({}, { content: "Hm.", usage: USAGE });
  gateway = await startToolGateway();
  home = await mkdtemp(join(tmpdir(), "agent-"));
});

afterAll(async () => {
  await gateway.close();
  await vendor.stop();
  await rm(home, { recursive: true, force: true });
});

const claudeEnv = () => ({
  ANTHROPIC_BASE_URL: vendor.url,
  ANTHROPIC_API_KEY: "sk-ant-api03-of-the-vendor",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  // Else tools are found by a search of the model's, which the mock does not play.
  ENABLE_TOOL_SEARCH: "false",
  // Else it asks the model without the tools of servers that do not answer in five seconds.
  MCP_CONNECT_TIMEOUT_MS: "120000",
});
const ASKING = ["-p", "Use both tools.", "--output-format", "json", "--allowedTools", "mcp__tallygate"];

describe.skipIf(claude === null)("claude code", () => {
  const program = claude ?? [];

  test("adds the tool gateway, lists its tools for the model, and calls them", async () => {
    const env = claudeEnv();
    const header = `x-gateway-key: ${await gateway.key(SCOPES)}`;
    const adding = [
      "mcp",
      "add",
      "--transport",
      "http",
      "--scope",
      "user",
      "tallygate",
      `${gateway.url}/mcp`,
    ];
    const added = await runAgent([...program, ...adding, "--header", header, "--header", SESSION], {
      home,
      env,
    });
    expect(added.status).toBe(0);
    const listed = await runAgent([...program, "mcp", "list"], { home, env });
    expect(listed.stdout).toMatch(/tallygate: .*Connected/);

    const ran = await runAgent([...program, ...ASKING], { home, env });
    expect(JSON.parse(ran.stdout)).toMatchObject({ is_error: false, result: FINAL });
    const calls = await gateway.calls("claude-run", 3);
    const row = { client: "claude-code", channel: "mcp" };
    expect(calls.toSorted((a, b) => a.external_id.localeCompare(b.external_id))).toMatchObject([
      { ...row, server: "old", tool: "echo", status: "ok", external_id: "toolu_0" },
      { ...row, server: "new", tool: "echo", status: "ok", external_id: "toolu_1" },
      { ...row, server: "old", tool: "test_error_handling", status: "failed", external_id: "toolu_2" },
    ]);
    expect(heard).toMatch(/"tool".{0,200}from old__echo/);
    expect(heard).toMatch(/"tool".{0,200}from new__echo/);
  });

  test("with hooks too, a call that both see is one row, and the session is the agent's", async () => {
    const secret = await gateway.key(SCOPES);
    const place = await mkdtemp(join(tmpdir(), "agent-"));
    const headers = { "x-gateway-key": secret };
    const mcpServers = { tallygate: { type: "http", url: `${gateway.url}/mcp`, headers } };
    await Bun.write(
      join(place, ".claude/settings.json"),
      CLAUDE.managed.text(gateway.url, { gateway: true, required: false }),
    );
    await Bun.write(join(place, "servers.json"), JSON.stringify({ mcpServers }));
    const command = [...program, ...ASKING, "--mcp-config", "servers.json", "--strict-mcp-config"];
    const ran = await runAgent(command, { home: place, env: { ...claudeEnv(), TALLYGATE_KEY: secret } });
    await rm(place, { recursive: true, force: true });
    const said = JSON.parse(ran.stdout);
    expect(said).toMatchObject({ is_error: false, result: FINAL });

    const row = { client: "claude-code", channel: "mcp", session: said.session_id };
    const both = [
      { ...row, server: "old", tool: "echo", status: "ok", cost_usd: "0.0000001" },
      { ...row, server: "new", tool: "echo", status: "ok", cost_usd: "0.0000001" },
      { ...row, server: "old", tool: "test_error_handling", status: "failed", cost_usd: "0.002" },
    ];
    await until(async () => {
      const seen = await gateway.calls(said.session_id, 3);
      return seen.every(({ status, channel }) => status !== "pending" && channel === "mcp");
    });
    const calls = await gateway.calls(said.session_id, 3);
    const inOrder = calls.toSorted((a, b) => a.external_id.localeCompare(b.external_id));
    expect(inOrder).toMatchObject(both);
    expect(inOrder).toHaveLength(3);
  });
});

type Said = { type: string; name?: string; namespace?: string };

/** A vendor of responses: it calls a tool of the gateway's once, by the namespace that the agent has put it in. */
function codexVendor() {
  const asked: { tools?: { type: string; name: string; tools?: { name: string }[] }[]; input: Said[] }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.json();
      asked.push(body);
      const isFirst = body.input.every(({ type }: Said) => type !== "function_call_output");
      const said = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: FINAL }],
      };
      const call = {
        id: "fc_1",
        type: "function_call",
        call_id: "call_1",
        name: "new__echo",
        namespace: "mcp__tallygate",
      };
      const item = isFirst ? { ...call, arguments: '{"words":"from new__echo"}' } : said;
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const events = [
        { type: "response.created", response: { id: "resp_1" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "resp_1", output: [item], usage } },
      ];
      const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, asked, stop: () => server.stop(true) };
}

const codexConfig = (vendorUrl: string, secret: string, session = "codex-run") => `model_provider = "vendor"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.vendor]
name = "vendor"
base_url = "${vendorUrl}"
wire_api = "responses"
env_key = "VENDOR_KEY"
[mcp_servers.tallygate]
url = "${gateway.url}/mcp"
required = true
http_headers = { "x-gateway-key" = "${secret}"${session && `, "x-session-id" = "${session}"`} }
`;

describe.skipIf(codex === null)("codex", () => {
  test("lists the tool gateway's tools for the model, and calls them", async () => {
    const answers = codexVendor();
    const config = codexConfig(answers.url, await gateway.key(SCOPES));
    await Bun.write(join(home, ".codex/config.toml"), config);
    const asking = ["exec", "--json", "--skip-git-repo-check", "-m", "gpt-4o", "Use the tool."];
    const ran = await runAgent([...(codex ?? []), ...asking], {
      home,
      env: { VENDOR_KEY: "sk-of-the-vendor" },
    });
    await answers.stop();
    const offered = answers.asked[0]?.tools?.find(({ name }) => name === "mcp__tallygate");
    expect(offered?.tools?.map(({ name }) => name).toSorted()).toEqual(SCOPES.mcp.toSorted());
    expect(ran.stdout).toContain(FINAL);
    expect(JSON.stringify(answers.asked.at(-1)?.input)).toContain("from new__echo");
    expect(await gateway.calls("codex-run", 1)).toMatchObject([
      { server: "new", tool: "echo", status: "ok", client: "codex", channel: "mcp" },
    ]);
  });

  test("with hooks too, a call that both see is one row, and the session is the agent's", async () => {
    const answers = codexVendor();
    const secret = await gateway.key(SCOPES);
    const place = await mkdtemp(join(tmpdir(), "agent-"));
    const hook = { type: "command", command: forwarder(gateway.url, "codex"), timeout: 5 };
    const hooks = Object.fromEntries(
      ["PreToolUse", "PostToolUse"].map((event) => [event, [{ hooks: [hook] }]]),
    );
    await Bun.write(join(place, ".codex/config.toml"), codexConfig(answers.url, secret, ""));
    await Bun.write(join(place, ".codex/hooks.json"), JSON.stringify({ hooks }));
    const asking = ["exec", "--json", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"];
    const ran = await runAgent([...(codex ?? []), ...asking, "-m", "gpt-4o", "Use the tool."], {
      home: place,
      env: { VENDOR_KEY: "sk-of-the-vendor", TALLYGATE_KEY: secret },
    });
    await answers.stop();
    await rm(place, { recursive: true, force: true });
    const session = /"thread_id":"([^"]+)"/.exec(ran.stdout)?.[1] ?? "none";
    await until(async () => (await gateway.calls(session, 1)).every(({ status }) => status === "ok"));
    const row = { client: "codex", channel: "mcp", session, external_id: "call_1" };
    const calls = await gateway.calls(session, 1);
    expect(calls).toMatchObject([
      { ...row, server: "new", tool: "echo", status: "ok", cost_usd: "0.0000001" },
    ]);
    expect(calls).toHaveLength(1);
  });
});
