import { describe, expect, test } from "bun:test";
import { withoutSignIn, withSignIn } from "#gateway/cli/agents/json-settings.ts";
import { userShell, withBlock, withoutBlock } from "#gateway/cli/agents/shell-profiles.ts";

const LINES = ["# a note", 'function gemini { "/a b/tallygate" run --quiet -- gemini "$@"; }'];
const OTHER = ['function copilot { tallygate run --quiet -- copilot "$@"; }'];

describe("a profile gets a block once, and is the same without it, byte for byte", () => {
  test.each([null, "", "# mine", "# mine\n", "# mine\n\n\n", "\n", "a\r\nb"])("%j", (text) => {
    const added = withBlock(text, "gemini", LINES);
    expect(added).toStartWith(text ?? "");
    expect(added).toContain(LINES.join("\n"));
    expect(withBlock(added, "gemini", LINES)).toBe(added);
    expect(withoutBlock(added, "gemini")).toBe(text);

    const both = withBlock(added, "copilot", OTHER);
    for (const [first, second] of [
      ["gemini", "copilot"],
      ["copilot", "gemini"],
    ] as const) {
      expect(withoutBlock(withoutBlock(both, first), second)).toBe(text);
    }
  });

  test("other lines replace it, and what was added after it stays", () => {
    const added = withBlock("# mine", "gemini", LINES);
    const again = withBlock(added, "gemini", OTHER);
    expect([again.includes("# a note"), withoutBlock(again, "gemini")]).toEqual([false, "# mine"]);
    expect(withoutBlock(`${added}alias g=git\n`, "gemini")).toBe("# mine\nalias g=git\n");
    expect(withoutBlock(`${withBlock(null, "gemini", LINES)}alias g=git\n`, "gemini")).toBe("alias g=git\n");
  });
});

test.each([
  ["/usr/bin/zsh", {}, "/home/ada/.zshrc", 'function gemini { run "$@"; }'],
  ["/usr/bin/zsh", { ZDOTDIR: "/home/ada/.zsh" }, "/home/ada/.zsh/.zshrc", 'function gemini { run "$@"; }'],
  ["/usr/bin/fish", {}, "/home/ada/.config/fish/conf.d/tallygate.fish", "function gemini; run $argv; end"],
] as const)("%s with %j reads %s", (shell, more, path, text) => {
  const set: Record<string, string> = { SHELL: shell, ...more };
  const it = userShell({ home: "/home/ada", env: (name) => set[name] });
  expect([it?.path, it?.define({ name: "gemini", command: "run" })]).toEqual([path, text]);
});

test("a shell that is not known has no profile", () => {
  for (const shell of [undefined, "/bin/sh", "/opt/nu"]) {
    expect(
      userShell({ home: "/home/ada", env: (name) => (name === "SHELL" ? shell : undefined) }),
    ).toBeNull();
  }
});

test("Gemini CLI's sign-in is chosen where none is, and taken back", () => {
  const TYPE = "gemini-api-key";
  for (const text of [
    null,
    '{\n    "ui": {\n        "theme": "x"\n    }\n}',
    '{"security":{"folderTrust":{"enabled":true}}}\n',
  ]) {
    const chosen = withSignIn(text, TYPE);
    expect(JSON.parse(chosen).security.auth).toEqual({ selectedType: TYPE });
    expect(withSignIn(chosen, TYPE)).toBe(chosen);
    expect(withoutSignIn(chosen, TYPE)).toBe(text);
  }
  const vertex = '{"security":{"auth":{"selectedType":"vertex-ai"}}}';
  expect(() => withSignIn(vertex, TYPE)).toThrow('already signs in with "vertex-ai"');
  expect(withoutSignIn(vertex, TYPE)).toBe(vertex);
});
