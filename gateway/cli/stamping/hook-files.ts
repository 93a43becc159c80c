import { join } from "node:path";
import { exportOf } from "../own-program.ts";
import type { AgentName } from "./agents.ts";
import { editGroups, type HookGroup, jsonText } from "./hook-groups.ts";

/** Where agents keep a user's own settings. */
export type Homes = { home: string; env(name: string): string | undefined };

export type HookFile = {
  /** The file that gets the hook. */
  path(homes: Homes): string;
  /**
   * The file's text with the hook added once or, with a null command, removed. Everything else is kept; null means no
   * file.
   * @throws Error for a file that cannot be parsed.
   */
  edit(text: string | null, command: string | null): string | null;
  /** What the user still has to do. */
  afterwards?: string;
};

/** Each agent's own directory: if it exists, the agent is used here. */
export const DIRECTORIES = {
  claude: ({ home, env }) => env("CLAUDE_CONFIG_DIR") ?? join(home, ".claude"),
  codex: ({ home, env }) => env("CODEX_HOME") ?? join(home, ".codex"),
  gemini: ({ home }) => join(home, ".gemini"),
  copilot: ({ home, env }) => env("COPILOT_HOME") ?? join(home, ".copilot"),
  qwen: ({ home, env }) => env("QWEN_HOME") ?? join(home, ".qwen"),
  opencode: ({ home, env }) => join(env("XDG_CONFIG_HOME") ?? join(home, ".config"), "opencode"),
} as const satisfies Record<AgentName, (homes: Homes) => string>;

const OPENCODE_HOOK = join(import.meta.dir, "opencode-hook.ts");

const TIMEOUT_SECONDS = 60;
/** Tools of GitHub's own MCP server, whatever name the agent gives the server. */
const REQUEST_TOOLS = "mcp__.*pull_request.*";

const group = (matcher: string, command: string): HookGroup => ({
  matcher,
  hooks: [{ type: "command", command, timeout: TIMEOUT_SECONDS }],
});

/** The file in which each agent gets the stamping hook, and its format. */
export const HOOK_FILES = {
  claude: {
    path: (homes) => join(DIRECTORIES.claude(homes), "settings.json"),
    edit: editGroups("PostToolUse", (command) =>
      ["Bash", REQUEST_TOOLS].map((matcher) => group(matcher, command)),
    ),
  },
  codex: {
    path: (homes) => join(DIRECTORIES.codex(homes), "hooks.json"),
    edit: editGroups("PostToolUse", (command) => [group(`Bash|${REQUEST_TOOLS}`, command)]),
    afterwards:
      "Codex asks once whether it may run the hook: start it and agree (/hooks). `codex exec` never asks: in CI, add --trust.",
  },
  gemini: {
    path: (homes) => join(DIRECTORIES.gemini(homes), "settings.json"),
    edit: editGroups("AfterTool", (command) => [
      {
        matcher: "run_shell_command|mcp_.*pull_request.*",
        hooks: [{ name: "tallygate-stamp", type: "command", command, timeout: TIMEOUT_SECONDS * 1000 }],
      },
    ]),
  },
  copilot: {
    path: (homes) => join(DIRECTORIES.copilot(homes), "hooks", "tallygate.json"),
    edit: (_, command) =>
      command &&
      jsonText({
        version: 1,
        hooks: { postToolUse: [{ type: "command", bash: command, timeoutSec: TIMEOUT_SECONDS }] },
      }),
  },
  qwen: {
    path: (homes) => join(DIRECTORIES.qwen(homes), "settings.json"),
    edit: editGroups("PostToolUse", (command) => [group(`run_shell_command|${REQUEST_TOOLS}`, command)]),
  },
  opencode: {
    path: (homes) => join(DIRECTORIES.opencode(homes), "plugin", "tallygate.js"),
    edit: (_, command) => command && exportOf("stamping", OPENCODE_HOOK),
  },
} as const satisfies Record<AgentName, HookFile>;
