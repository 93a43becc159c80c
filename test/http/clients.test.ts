import { describe, expect, test } from "bun:test";
import { CLIENTS, clientName } from "#gateway/http/clients.ts";
import { LABEL_MAX } from "#shared/labels.ts";

describe("clientName", () => {
  test.each([
    ["claude-cli/2.1.329 (external, sdk-cli)", "claude-code"],
    ["claude-code/2.1.329 (sdk-cli)", "claude-code"],
    ["codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)", "codex"],
    ["codex_cli_rs/0.169.0", "codex"],
    ["codex-mcp-client/0.169.0", "codex"],
    ["Codex Desktop/0.169.0 (Mac OS 15.0; arm64)", "codex"],
    ["opencode/1.18.33 ai-sdk/provider-utils/5.0.0 runtime/bun/1.4.4", "opencode"],
    ["GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64)", "gemini-cli"],
    ["QwenCode/0.24.4 (linux; x64)", "qwen-code"],
    ["OpenAI/JS 7.55.0", "openai-js"],
    ["openai/js 7.55.0", "openai-js"],
    ["AsyncOpenAI/Python 3.1.0", "openai-python"],
    ["Anthropic/JS 1.11.0", "anthropic-js"],
    ["ai/7.0.173 ai-sdk-provider-utils/5.0.0", "ai-sdk"],
    ["ai-sdk-anthropic/4.0.118", "ai-sdk"],
    ["ai-sdk/openai-compatible/3.0.37", "ai-sdk"],
    ["langchainjs-openai/1.0.0 ((node/v22))", "langchain-js"],
    ["cohere-ai/8.1.0", "cohere-sdk"],
    ["curl/8.5.0", "curl"],
    ["python-requests/2.32", "python-requests"],
    ["node", "node"],
    ["ls/JS 5.23.2", "continue"],
    ["factory-cli/0.62.1", "droid"],
    ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"],
    ["", "unknown"],
    ["(odd)", "unknown"],
    [`${"a".repeat(33)}/1`, "unknown"],
    ["/1.0", "unknown"],
  ])("%j is %s", (userAgent, expected) => {
    expect(clientName(userAgent, new Headers())).toBe(expected);
  });

  test("no user agent is unknown", () => {
    expect(clientName(null, new Headers())).toBe("unknown");
  });

  test("an SDK that two tools share is told apart by the tool's own headers", () => {
    const first = new Headers({ "x-initiator": "user", "x-interaction-type": "conversation-user" });
    // From its second turn on, and with a provider of Anthropic's format.
    const later = new Headers({ "x-initiator": "agent" });
    for (const headers of [first, later]) {
      for (const sdk of ["OpenAI/JS 5.20.1", "Anthropic/JS 0.94.0"]) {
        expect(clientName(sdk, headers)).toBe("copilot-cli");
      }
    }
    expect(clientName("OpenAI/JS 5.20.1", new Headers())).toBe("openai-js");
  });

  test("every row can be reached and its name fits the client label", () => {
    for (const row of CLIENTS) {
      const headers = new Headers(
        "headers" in row ? row.headers.map((name) => [name, "1"] as [string, string]) : [],
      );
      expect(clientName(`${row.userAgent}1.0`, headers)).toBe(row.name);
      expect(row.name.length).toBeLessThanOrEqual(LABEL_MAX.client);
    }
  });
});
