import { join } from "node:path";
import { inheritedEnv } from "#shared/env.ts";
import { readHookInput } from "./hook-input.ts";

/** What this plugin uses of opencode's hooks. */
type Hooks = {
  "tool.execute.after"(call: { tool: string; sessionID: string; args: unknown }): Promise<void>;
};

const HOOK = join(import.meta.dir, "../stamp-hook.ts");

/** A plugin of opencode: after a tool that may have made a pull request, the request is stamped. */
export const stamping = async ({ directory }: { directory: string }): Promise<Hooks> => ({
  "tool.execute.after": async ({ tool, sessionID, args }) => {
    const told = JSON.stringify({ session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args });
    if (!readHookInput(told)?.concerns) return;
    // opencode carries Bun within itself, and its own program runs scripts when it is told to.
    const child = Bun.spawn([process.execPath, "--no-env-file", HOOK], {
      cwd: directory,
      env: inheritedEnv({ BUN_BE_BUN: "1" }),
      stdin: new Blob([told]),
      stdout: "ignore",
      stderr: "ignore",
    });
    await child.exited;
  },
});
