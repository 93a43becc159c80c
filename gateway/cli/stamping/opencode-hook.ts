import { join } from "node:path";
import { inheritedEnv } from "#shared/env.ts";
import { HOOK_AGENT } from "../agents/variables.ts";
import { readHookInput } from "./hook-input.ts";

/** The part of opencode's hooks that this plugin uses. */
type Hooks = {
  "tool.execute.after"(call: { tool: string; sessionID: string; args: unknown }): Promise<void>;
};

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

/**
 * An opencode plugin: after a tool that may have created a pull request or added to a branch, the pull request is
 * stamped, and the session linked to the branch's task.
 */
export const stamping = async (opencode: Opencode): Promise<Hooks> => ({
  "tool.execute.after": async ({ tool, sessionID, args }) => {
    const { directory } = opencode;
    const callOf = (session: string) =>
      JSON.stringify({ session_id: session, cwd: directory, tool_name: tool, tool_input: args });
    const input = readHookInput(callOf(sessionID));
    if (!input?.concerns && !input?.works) return;
    const call = callOf(await rootOf(opencode, sessionID));
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
});
