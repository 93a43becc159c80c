import { join } from "node:path";
import { inheritedEnv } from "#shared/env.ts";
import { HOOK_AGENT } from "../agents/variables.ts";

/** The part of opencode's hooks that this plugin uses. */
type Hooks = {
  "tool.execute.before"(call: { callID: string }): Promise<void>;
  "tool.execute.after"(call: Call, result: { output?: unknown }): Promise<void>;
};
type Call = { tool: string; sessionID: string; callID: string; args: unknown };

const HOOK = join(import.meta.dir, "../stamp-hook.ts");

/** The part of opencode that this plugin uses. */
type Opencode = {
  directory: string;
  client?: { session: { get(of: { path: { id: string } }): Promise<{ data?: { parentID?: string } }> } };
};

/** Sub-agents nest a few levels at most. */
const LEVELS = 8;

/** The session that began it all: a sub-agent's calls count for that one. */
async function rootOf({ client }: Opencode, sessionID: string): Promise<string> {
  let root = sessionID;
  for (let level = 0; level < LEVELS; level++) {
    const parent = (await client?.session.get({ path: { id: root } }).catch(() => null))?.data?.parentID;
    if (!parent) break;
    root = parent;
  }
  return root;
}

/** A shell, or a tool of GitHub's; no other one commits, pushes or opens a pull request. */
const MAY_ACT = /^(?:bash|shell)$|pull_?request/i;
const STARTED_MAX = 100;

/** An opencode plugin: stamps pull requests after tools that change them, and links the session to the task. */
export const stamping = async (opencode: Opencode): Promise<Hooks> => {
  const started = new Map<string, number>();
  return {
    "tool.execute.before": async ({ callID }) => {
      if (started.size >= STARTED_MAX) started.clear();
      started.set(callID, Date.now());
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, { output }) => {
      const { directory } = opencode;
      const start = started.get(callID);
      started.delete(callID);
      if (!MAY_ACT.test(tool)) return;
      const call = JSON.stringify({
        session_id: await rootOf(opencode, sessionID),
        cwd: directory,
        tool_name: tool,
        tool_input: args,
        tool_response: output,
        ...(start !== undefined && { duration_ms: Date.now() - start }),
      });
      // opencode embeds Bun, and its own executable runs scripts with this variable.
      const child = Bun.spawn([process.execPath, "--no-env-file", HOOK], {
        cwd: directory,
        env: inheritedEnv({ BUN_BE_BUN: "1", [HOOK_AGENT]: "opencode" }),
        stdin: new Blob([call]),
        stdout: "ignore",
        stderr: "ignore",
      });
      await child.exited;
    },
  };
};
