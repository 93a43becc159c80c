import { describe, expect, test } from "bun:test";
import { RUN } from "#gateway/cli/own-program.ts";
import { withoutTrust } from "#gateway/cli/stamping/codex-hooks.ts";
import { commandLine, GATEWAY_FILES, keyCommandOf } from "#gateway/cli/stamping/gateway-files.ts";

const URL = "https://llm.example.com";
const CONNECTION = { url: URL, keyCommand: ["/opt/bun", "/a b/tallygate.ts", "key", "--url", URL] };

const edit = (name: "claude" | "codex", text: string | null, connection: typeof CONNECTION | null) =>
  GATEWAY_FILES[name].edit(text, connection);

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
  expect(claude({ env: { ANTHROPIC_BASE_URL: "https://other.example" } })).toThrow("names another gateway");
  expect(claude({ apiKeyHelper: "cat key" })).toThrow("apiKeyHelper of its own");
  expect(claude({ env: { ANTHROPIC_API_KEY: "k" } })).toThrow("ANTHROPIC_API_KEY");
  const same = JSON.stringify({ env: { ANTHROPIC_BASE_URL: URL, ANTHROPIC_AUTH_TOKEN: "k" } });
  expect(edit("claude", same, CONNECTION)).toBe(same);
  expect(edit("claude", same, null)).toBe(same);
  expect(() => edit("codex", 'model_provider = "own"\n', CONNECTION)).toThrow('model_provider is "own"');
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
