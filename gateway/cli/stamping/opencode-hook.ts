import { join } from "node:path";
import { inheritedEnv } from "#shared/env.ts";
import { readHookInput } from "./hook-input.ts";

/** The part of opencode's hooks that this plugin uses. */
type Hooks = {
  "tool.execute.after"(call: { tool: string; sessionID: string; args: unknown }): Promise<void>;
};

const HOOK = join(import.meta.dir, "../stamp-hook.ts");

/** An opencode plugin: after a tool that may have created a pull request, the pull request is stamped. */
export const stamping = async ({ directory }: { directory: string }): Promise<Hooks> => ({
  "tool.execute.after": async ({ tool, sessionID, args }) => {
    const call = JSON.stringify({ session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args });
    if (!readHookInput(call)?.concerns) return;
    // opencode embeds Bun, and its own executable runs scripts with this variable.
    const child = Bun.spawn([process.execPath, "--no-env-file", HOOK], {
      cwd: directory,
      env: inheritedEnv({ BUN_BE_BUN: "1" }),
      stdin: new Blob([call]),
      stdout: "ignore",
      stderr: "ignore",
    });
    await child.exited;
  },
});
