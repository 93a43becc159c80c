import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { additionsFor, agentOf } from "#gateway/cli/stamping/agents.ts";
import { newSession } from "#gateway/cli/stamping/branch-session.ts";
import { NO_CODEX } from "#gateway/cli/stamping/codex-settings.ts";
import { HOOK_FILES } from "#gateway/cli/stamping/hook-files.ts";
import { readHookInput } from "#gateway/cli/stamping/hook-input.ts";
import { readRemoteAddress } from "#gateway/cli/stamping/remote.ts";
import { stampBody } from "#gateway/cli/stamping/stamped-body.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { readSessionLine } from "#shared/session-line.ts";

const SESSION = "gs_task" as SessionId;

describe("a stamped body", () => {
  test("names the session and no other, keeps what was written, and is not stamped twice", () => {
    const piece = fc.constantFrom(
      "text",
      "\n",
      "\r\n",
      "```",
      "> quote",
      "<!--",
      "-->",
      "    code",
      "- item",
      "",
      " ",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("\n")),
        (body) => {
          const told = stampBody(body, SESSION);
          if (told.kind !== "stamped") return told.kind === "no_place";
          expect(readSessionLine(told.body).ids).toEqual([SESSION]);
          expect(told.body.replace(`Gateway-Session: ${SESSION}`, "").trim()).toBe(body.trim());
          return stampBody(told.body, SESSION).kind === "same";
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    [null, "Gateway-Session: gs_task"],
    ["Fixes a bug.", "Fixes a bug.\n\nGateway-Session: gs_task"],
    ["One.\r\n\r\nTwo.\r\n", "One.\r\n\r\nTwo.\r\n\r\nGateway-Session: gs_task"],
    ["> quoted\n> Gateway-Session: other", "> quoted\n> Gateway-Session: other\n\nGateway-Session: gs_task"],
    ["```\nopen", "Gateway-Session: gs_task\n\n```\nopen"],
  ])("%j becomes %j", (body, stamped) => {
    expect(stampBody(body, SESSION)).toEqual({ kind: "stamped", body: stamped });
  });

  test("another session, two sessions and a full body are left alone", () => {
    expect(stampBody("gateway-session: other", SESSION)).toEqual({
      kind: "other",
      ids: ["other" as SessionId],
    });
    expect(stampBody("Gateway-Session: a\nGateway-Session: gs_task", SESSION).kind).toBe("conflict");
    expect(stampBody("x".repeat(65_530), SESSION).kind).toBe("too_long");
  });
});

test("new sessions are valid, 29 characters, and ordered by time", () => {
  const made = Array.from({ length: 50 }, () => newSession());
  expect(made.every((id) => parseSessionId(id) !== null && id.length === 29)).toBe(true);
  expect([...made].sort()).toEqual(made);
});

test.each([
  ["https://github.com/octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["https://ada@github.com/octo-org/shop/", "github.com", "octo-org", "shop"],
  ["git@github.com:octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["ssh://git@ssh.github.com:443/octo-org/shop.git", "github.com", "octo-org", "shop"],
  ["ssh://git@ghe.example.com:2222/octo-org/shop.git", "ghe.example.com", "octo-org", "shop"],
  ["http://127.0.0.1:8080/octo-org/my.shop", "127.0.0.1:8080", "octo-org", "my.shop"],
])("the remote %s is %s/%s/%s", (address, host, owner, repository) => {
  expect(readRemoteAddress(address)).toEqual({ host, owner, repository });
});

test.each([
  "/srv/git/shop.git",
  "../shop",
  "file:///srv/git/shop.git",
  "https://github.com/shop",
  "C:\\git\\shop",
])("the remote %s is none of GitHub's", (address) => expect(readRemoteAddress(address)).toBeNull());

describe("what an agent is told", () => {
  const run = { session: SESSION, gateway: null, subscription: false, codex: NO_CODEX };
  const told = (
    name: Parameters<typeof additionsFor>[0],
    env: Record<string, string> = {},
    more: object = {},
  ) => additionsFor(name, { ...run, ...more, env: (it) => env[it] });
  const gateway = { url: "http://gateway", key: "tg_key" };

  test.each([
    [["claude", "-p", "x"], { name: "claude", argumentsAt: 1 }],
    [["/usr/local/bin/codex", "exec"], { name: "codex", argumentsAt: 1 }],
    [["npx", "-y", "@google/gemini-cli@0.61.0", "-p", "x"], { name: "gemini", argumentsAt: 3 }],
    [["bunx", "@github/copilot"], { name: "copilot", argumentsAt: 2 }],
    [["opencode.cmd", "run"], { name: "opencode", argumentsAt: 1 }],
    [["bash"], null],
    [["claude-wrapper"], null],
  ] as const)("%j starts %j", (command, agent) => {
    expect(agentOf(command) as unknown).toEqual(agent);
  });

  test("its own headers stay, and a former session of ours goes: two would make no valid id", () => {
    const lines = "x-team: shop\nX-Session-Id: gs_former";
    expect(told("claude", { ANTHROPIC_CUSTOM_HEADERS: lines }).env["ANTHROPIC_CUSTOM_HEADERS"]).toBe(
      "x-team: shop\nx-session-id: gs_task",
    );
    const items = "x-team:a,b, x-session-id:gs_former";
    expect(told("gemini", { GEMINI_CLI_CUSTOM_HEADERS: items }).env["GEMINI_CLI_CUSTOM_HEADERS"]).toBe(
      "x-team:a,b,x-session-id:gs_task",
    );
    const config = JSON.stringify({ model: "m", plugin: ["mine"] });
    const { plugin, ...rest } = JSON.parse(
      told("opencode", { OPENCODE_CONFIG_CONTENT: config }).env["OPENCODE_CONFIG_CONTENT"] ?? "",
    );
    expect([rest, plugin]).toEqual([{ model: "m" }, ["mine", expect.stringMatching(/opencode-plugin\.ts$/)]]);
  });

  test("Claude Code is led to the gateway by a key, or keeps its subscription with the key beside it", () => {
    expect(told("claude", {}, { gateway }).env).toEqual({
      GATEWAY_SESSION_ID: "gs_task",
      ANTHROPIC_CUSTOM_HEADERS: "x-session-id: gs_task",
      ANTHROPIC_BASE_URL: "http://gateway",
      ANTHROPIC_AUTH_TOKEN: "tg_key",
    });
    expect(told("claude", {}, { gateway, subscription: true }).env).toEqual({
      GATEWAY_SESSION_ID: "gs_task",
      ANTHROPIC_CUSTOM_HEADERS: "x-session-id: gs_task\nx-gateway-lane: subscription\nx-gateway-key: tg_key",
      ANTHROPIC_BASE_URL: "http://gateway",
    });
    const set = { ANTHROPIC_BASE_URL: "http://other", ANTHROPIC_API_KEY: "own" };
    expect(told("claude", set, { gateway }).env).not.toContainAnyKeys([
      "ANTHROPIC_BASE_URL",
      "ANTHROPIC_AUTH_TOKEN",
    ]);
  });

  test("Gemini CLI is led to the gateway, unless it is configured for another one", () => {
    expect(told("gemini", {}, { gateway }).env).toMatchObject({
      GOOGLE_GEMINI_BASE_URL: gateway.url,
      GEMINI_API_KEY: gateway.key,
    });
    const elsewhere = { GOOGLE_GEMINI_BASE_URL: "https://elsewhere" };
    expect(Object.keys(told("gemini", elsewhere, { gateway }).env)).not.toContain("GEMINI_API_KEY");
    expect(Object.keys(told("gemini").env)).not.toContain("GOOGLE_GEMINI_BASE_URL");
  });

  test("Codex gets arguments: a provider of ours, or the label on its own one", () => {
    expect(told("codex", {}, { codex: { ...NO_CODEX, provider: "mine" } }).args).toEqual([
      "-c",
      'model_providers.mine.env_http_headers.x-session-id="GATEWAY_SESSION_ID"',
    ]);
    expect(told("codex", {}, { gateway }).args).toContain(
      'model_providers.tallygate.base_url="http://gateway/v1"',
    );
    expect(told("codex").args).toEqual([]);
  });

  test("a shell gets the variables of all of them, and no arguments", () => {
    const { env, args } = told(null);
    expect(args).toEqual([]);
    expect(Object.keys(env)).toContainValues([
      "ANTHROPIC_CUSTOM_HEADERS",
      "COPILOT_PROVIDER_HEADERS",
      "GATEWAY_SESSION_ID",
    ]);
  });
});

describe("an agent's hook", () => {
  test.each([
    [{ tool_name: "Bash", tool_input: { command: "git push && gh pr create --title x" } }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh -R o/r pr edit 3 --body x" } }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh api repos/o/r/pulls -f title=x" } }, true],
    [{ tool_name: "shell", tool_input: { command: ["bash", "-lc", "gh pr create"] } }, true],
    [{ tool_name: "mcp__github__create_pull_request", tool_input: {} }, true],
    [{ toolName: "bash", toolArgs: '{"command":"gh pr merge"}' }, true],
    [{ tool_name: "Bash", tool_input: { command: "gh pr list; echo created" } }, false],
    [{ tool_name: "Bash", tool_input: { command: "ls" } }, false],
    [{ tool_name: "Read", tool_input: { file_path: "gh pr create" } }, false],
  ])("%j concerns a pull request: %p", (input, concerns) => {
    expect(readHookInput(JSON.stringify({ session_id: "s", ...input }))).toMatchObject({
      session: "s",
      concerns,
    });
  });

  test("what is not of that form is nothing, and an id that is none is dropped", () => {
    for (const text of ["", "[]", "null", '{"session_id":1}']) expect(readHookInput(text)).toBeNull();
    expect(readHookInput('{"session_id":"a b"}')?.session).toBeNull();
  });
});

describe("a file of settings with the hook", () => {
  const { edit } = HOOK_FILES.claude;
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
