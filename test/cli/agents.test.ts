import { describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection, Run } from "#gateway/cli/agents/agent.ts";
import { AGENT_NAMES, AGENTS, type AgentName, additionsFor, agentOf } from "#gateway/cli/agents/agents.ts";
import { CLAUDE } from "#gateway/cli/agents/claude.ts";
import { CODEX, withoutTrust } from "#gateway/cli/agents/codex.ts";
import { commandLine, keyCommandOf } from "#gateway/cli/agents/key-command.ts";
import { RUN } from "#gateway/cli/own-program.ts";
import type { SessionId } from "#shared/labels.ts";

const ROOT = join(import.meta.dir, "../..");
const SESSION = "gs_task" as SessionId;
const NOWHERE = "/nowhere";
const gateway = { url: "http://gateway", key: "tg_key" };

test.each(AGENT_NAMES)("what %s is told by a run, by install and by administrators", async (name) => {
  const agent = AGENTS[name];
  const homes = { home: "/home/ada", env: () => undefined };
  const run = { ...{ session: SESSION, homes, directory: NOWHERE, words: ["-p", "x"] }, gateway };
  const told = async (subscription: boolean) => {
    const { file, ...added } = await additionsFor(agent, { ...run, subscription });
    return { ...added, file: file && { text: await file.text(), ...file.tell("/tmp/file") } };
  };
  const keyCommand = ["/opt/tallygate", "key", "--url", URL];
  const file = "edit" in agent.gateway && {
    path: agent.gateway.path(homes),
    text: agent.gateway.edit(null, { url: URL, keyCommand }),
  };
  const managed = [true, false].map((gateway) => [
    agent.managed?.text(URL, { gateway, required: !gateway }),
    agent.managed?.needs(URL, { gateway, required: !gateway }),
  ]);
  const all = {
    ...agent,
    directory: agent.directory(homes),
    lead: agent.lead(URL),
    run: await told(false),
    ...(agent.subscription && { subscription: await told(true) }),
    hook: { ...agent.hook, path: agent.hook.path(homes), text: agent.hook.edit(null, "bun stamp-hook.ts") },
    gateway: { ...agent.gateway, ...file },
    ...(agent.managed && { managed: { paths: agent.managed.paths, managed } }),
  };
  expect(JSON.stringify(all, null, 2).replaceAll(ROOT, "<root>").replaceAll("\\n", "\n")).toMatchSnapshot();
});

describe("what an agent is told by a run", () => {
  const told = async (name: AgentName | null, env: Record<string, string> = {}, more: Partial<Run> = {}) => {
    const { args = [], ...added } = await additionsFor(name && AGENTS[name], {
      ...{ session: SESSION, directory: NOWHERE, words: name && [], gateway: null, subscription: false },
      homes: { home: NOWHERE, env: (it) => env[it] },
      ...more,
    });
    // Every run adds variables.
    return { ...added, args, env: added.env as Record<string, string> };
  };

  test.each([
    [["claude", "-p", "x"], { title: "Claude Code", argumentsAt: 1 }],
    [["/usr/local/bin/codex", "exec"], { title: "Codex", argumentsAt: 1 }],
    [["npx", "-y", "@google/gemini-cli@0.61.0", "-p", "x"], { title: "Gemini CLI", argumentsAt: 3 }],
    [["bunx", "@github/copilot"], { title: "Copilot CLI", argumentsAt: 2 }],
    [["opencode.cmd", "run"], { title: "opencode", argumentsAt: 1 }],
    [["cn", "-p", "x"], { title: "Continue", argumentsAt: 1 }],
    [["bash"], null],
    [["claude-wrapper"], null],
  ] as const)("%j starts %j", (command, expected) => {
    const found = agentOf(command);
    expect(found && { title: found.agent.title, argumentsAt: found.argumentsAt }).toEqual(expected);
  });

  test("its own headers stay, and a former session of ours goes: two would make no valid id", async () => {
    const lines = "x-team: shop\nX-Session-Id: gs_former";
    expect((await told("claude", { ANTHROPIC_CUSTOM_HEADERS: lines })).env["ANTHROPIC_CUSTOM_HEADERS"]).toBe(
      "x-team: shop\nx-session-id: gs_task",
    );
    const items = "x-team:a,b, x-session-id:gs_former";
    expect(
      (await told("gemini", { GEMINI_CLI_CUSTOM_HEADERS: items })).env["GEMINI_CLI_CUSTOM_HEADERS"],
    ).toBe("x-team:a,b,x-session-id:gs_task");
    const config = JSON.stringify({ model: "m", plugin: ["mine"] });
    const { plugin, ...rest } = JSON.parse(
      (await told("opencode", { OPENCODE_CONFIG_CONTENT: config })).env["OPENCODE_CONFIG_CONTENT"] ?? "",
    );
    expect([rest, plugin]).toEqual([{ model: "m" }, ["mine", expect.stringMatching(/opencode-plugin\.ts$/)]]);
  });

  test("Claude Code is led to the gateway by a key, or keeps its subscription with the key beside it", async () => {
    expect((await told("claude", {}, { gateway })).env).toEqual({
      GATEWAY_SESSION_ID: "gs_task",
      ANTHROPIC_CUSTOM_HEADERS: "x-session-id: gs_task",
      ANTHROPIC_BASE_URL: "http://gateway",
      ANTHROPIC_AUTH_TOKEN: "tg_key",
    });
    expect((await told("claude", {}, { gateway, subscription: true })).env).toEqual({
      GATEWAY_SESSION_ID: "gs_task",
      ANTHROPIC_CUSTOM_HEADERS: "x-session-id: gs_task\nx-gateway-lane: subscription\nx-gateway-key: tg_key",
      ANTHROPIC_BASE_URL: "http://gateway",
    });
    const set = { ANTHROPIC_BASE_URL: "http://other", ANTHROPIC_API_KEY: "own" };
    expect((await told("claude", set, { gateway })).env).not.toContainAnyKeys([
      "ANTHROPIC_BASE_URL",
      "ANTHROPIC_AUTH_TOKEN",
    ]);
  });

  test("Claude Code's own settings and its --settings keep what they set, with the session beside it", async () => {
    const CLAUDE_CONFIG_DIR = mkdtempSync(join(tmpdir(), "claude-"));
    const env = { ANTHROPIC_CUSTOM_HEADERS: "x-tags: shop\nx-session-id: gs_former" };
    await Bun.write(join(CLAUDE_CONFIG_DIR, "settings.json"), JSON.stringify({ env }));
    const given = JSON.stringify({ model: "opus", env: { A: "1" } });
    const { args, file } = await told(
      "claude",
      { CLAUDE_CONFIG_DIR },
      { words: ["--settings", given, "-p"] },
    );
    expect([args, file?.tell("/tmp/it").args]).toEqual([["-p"], ["--settings", "/tmp/it"]]);
    expect(JSON.parse((await file?.text()) ?? "")).toEqual({
      model: "opus",
      env: { A: "1", ANTHROPIC_CUSTOM_HEADERS: "x-tags: shop\nx-session-id: gs_task" },
    });
    const headers = JSON.stringify({ env: { ANTHROPIC_CUSTOM_HEADERS: "x-tags: given" } });
    const other = await told("claude", { CLAUDE_CONFIG_DIR }, { words: [`--settings=${headers}`] });
    expect(other.env["ANTHROPIC_CUSTOM_HEADERS"]).toBe("x-tags: given\nx-session-id: gs_task");
  });

  test("Gemini CLI is led to the gateway, unless it is configured for another one", async () => {
    expect((await told("gemini", {}, { gateway })).env).toMatchObject({
      GOOGLE_GEMINI_BASE_URL: gateway.url,
      GEMINI_API_KEY: gateway.key,
    });
    const elsewhere = { GOOGLE_GEMINI_BASE_URL: "https://elsewhere" };
    expect(Object.keys((await told("gemini", elsewhere, { gateway })).env)).not.toContain("GEMINI_API_KEY");
    expect(Object.keys((await told("gemini")).env)).not.toContain("GOOGLE_GEMINI_BASE_URL");
  });

  test("Codex gets arguments: a provider of ours, or the label on its own one", async () => {
    const CODEX_HOME = mkdtempSync(join(tmpdir(), "codex-"));
    await Bun.write(
      `${CODEX_HOME}/config.toml`,
      'model_provider = "mine"\n[model_providers.mine]\n[mcp_servers.tools]\nurl = "http://gateway/mcp"\n[mcp_servers.other]\nurl = "http://other/mcp"\n',
    );
    expect((await told("codex", { CODEX_HOME })).args).toEqual([
      "-c",
      'model_providers.mine.env_http_headers.x-session-id="GATEWAY_SESSION_ID"',
    ]);
    expect((await told("codex", { CODEX_HOME }, { gateway })).args).toEqual(
      expect.arrayContaining([
        'model_providers.tallygate.base_url="http://gateway/v1"',
        // At the tool gateway too, and at no other tool server.
        'mcp_servers.tools.env_http_headers.x-session-id="GATEWAY_SESSION_ID"',
      ]),
    );
    expect((await told("codex", { CODEX_HOME }, { gateway })).args.join()).not.toContain("mcp_servers.other");
    expect((await told("codex")).args).toEqual([]);
  });

  test("a shell gets the variables of all of them, and no arguments", async () => {
    const { env, args } = await told(null);
    expect(args).toEqual([]);
    expect(Object.keys(env)).toContainValues([
      "ANTHROPIC_CUSTOM_HEADERS",
      "COPILOT_PROVIDER_HEADERS",
      "GATEWAY_SESSION_ID",
    ]);
  });
});

describe("a file of settings with the hook", () => {
  const { edit } = CLAUDE.hook;
  const mine =
    '{ "model": "opus", "hooks": { "PostToolUse": [ { "matcher": "Edit", "hooks": [] } ], "Stop": [] } }';

  test("gets it once, keeps all else, and gives it back", () => {
    const first = edit(mine, "bun stamp-hook.ts");
    expect(JSON.parse(first ?? "").hooks.PostToolUse).toHaveLength(3);
    expect(edit(first, "bun stamp-hook.ts")).toBe(first);
    expect(JSON.parse(edit(first, "/elsewhere/stamp-hook.ts") ?? "").hooks.PostToolUse).toHaveLength(3);
    expect(JSON.parse(edit(first, null) ?? "")).toEqual(JSON.parse(mine));
    expect(edit(edit(null, "bun stamp-hook.ts"), null)).toBeNull();
  });

  test.each(["{", "[]", '{"hooks":[]}', '{"hooks":{"PostToolUse":{}}}'])("%s is refused", (text) => {
    expect(() => edit(text, "x stamp-hook.ts")).toThrow();
  });
});

const URL = "https://llm.example.com";
const CONNECTION = { url: URL, keyCommand: ["/opt/bun", "/a b/tallygate.ts", "key", "--url", URL] };

const edit = (name: "claude" | "codex", text: string | null, connection: Connection | null) =>
  ({ claude: CLAUDE, codex: CODEX })[name].gateway.edit(text, connection);

describe("what is added is removed again, byte for byte, and adding twice changes nothing", () => {
  test.each([
    ["claude", null],
    ["claude", '{"model":"opus"}'],
    ["claude", '{\n\t"env": {\n\t\t"A": "1"\n\t},\n\t"model": "opus"\n}\n\n'],
    ["codex", null],
    ["codex", "# mine\n"],
    ["codex", 'model = "gpt-5"\n\n[history]\npersistence = "none"'],
    ["codex", 'model = "gpt-5"\n\n[history]\npersistence = "none"\n\n\n'],
  ] as const)("%s: %j", (name, text) => {
    const added = edit(name, text, CONNECTION);
    expect(added).toContain(URL);
    expect(edit(name, added, CONNECTION)).toBe(added);
    expect(edit(name, added, null)).toBe(text);
  });

  test("what was added after ours stays", () => {
    const before = '[history]\npersistence = "none"';
    const later = '[projects."/work"]\ntrust_level = "trusted"\n';
    const added = edit("codex", before, CONNECTION);
    expect(edit("codex", `${added}${later}`, null)).toBe(`${before}\n${later}`);
  });
});

test("a login at another gateway replaces ours", () => {
  const moved = {
    url: "https://other.example",
    keyCommand: ["tallygate", "key", "--url", "https://other.example"],
  };
  for (const name of ["claude", "codex"] as const) {
    const text = edit(name, edit(name, null, CONNECTION), moved);
    expect(text).toContain("https://other.example");
    expect(text).not.toContain(URL);
  }
});

test("settings that name a gateway or a credential are left alone, and ours already is no fault", () => {
  const claude = (settings: object) => () => edit("claude", JSON.stringify(settings), CONNECTION);
  expect(claude({ env: { ANTHROPIC_BASE_URL: "https://other.example" } })).toThrow(
    "is set to another gateway",
  );
  expect(claude({ apiKeyHelper: "cat key" })).toThrow("already has an apiKeyHelper");
  expect(claude({ env: { ANTHROPIC_API_KEY: "k" } })).toThrow("ANTHROPIC_API_KEY");
  const same = JSON.stringify({ env: { ANTHROPIC_BASE_URL: URL, ANTHROPIC_AUTH_TOKEN: "k" } });
  expect(edit("claude", same, CONNECTION)).toBe(same);
  expect(edit("claude", same, null)).toBe(same);
  expect(() => edit("codex", 'model_provider = "own"\n', CONNECTION)).toThrow(
    'model_provider is already "own"',
  );
  const own = `model_provider = "own"\n[model_providers.own]\nbase_url = "${URL}/v1"\n`;
  expect(edit("codex", own, CONNECTION)).toBe(own);
});

test("only the agreements to the hooks of one file are forgotten", () => {
  const state = (path: string) => `\n[hooks.state."${path}:post_tool_use:0:0"]\nenabled = true\n`;
  const kept = `model = "m"\n\n[hooks.state]\n${state("/b/hooks.json")}`;
  expect(withoutTrust(`${kept}${state("/a/hooks.json")}`, "/a/hooks.json")).toBe(kept);
  expect(withoutTrust(`model = "m"\n\n[hooks.state]\n${state("/a/hooks.json")}`, "/a/hooks.json")).toBe(
    'model = "m"\n',
  );
  expect(withoutTrust(`[hooks.state]\n${state("/a/hooks.json")}`, "/a/hooks.json")).toBeNull();
});

test.each(["https://llm.example.com", "http://[::1]:8787", "https://llm.example.com/~gateway"])(
  "the command for the key of %s is recognised, however the shell needs it quoted",
  (url) => {
    const words = [
      "/opt/bun",
      "--no-env-file",
      "/opt/tallygate/gateway/cli/tallygate.ts",
      "key",
      "--url",
      url,
    ];
    expect(keyCommandOf(commandLine(words))).toEqual({
      program: "/opt/tallygate/gateway/cli/tallygate.ts",
      url,
    });
    const compiled = ["/opt/tallygate-0.2.0-linux-x64", RUN, "gateway/cli/tallygate.ts", ...words.slice(3)];
    expect(keyCommandOf(commandLine(compiled))).toEqual({ program: "/opt/tallygate-0.2.0-linux-x64", url });
  },
);
