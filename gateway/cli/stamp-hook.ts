import { existsSync } from "node:fs";
import { gitIn } from "./stamping/git.ts";
import { readHookInput } from "./stamping/hook-input.ts";
import { currentPlace, seenPlace, switchedTo } from "./stamping/seen-places.ts";
import { effectsOf } from "./stamping/tool-effects.ts";

// `tallygate install` sets this as the agents' post-tool hook. Most tools concern neither a pull request nor a branch, so
// the rest is loaded only when one may.

const call = readHookInput(await Bun.stdin.text());
const directory = call?.directory ?? ".";
// A tool can remove the directory that it ran in.
if (call !== null && existsSync(directory)) {
  try {
    const effects = await effectsOf(gitIn(directory), directory, { ranMs: call.ranMs, now: Date.now() });
    const { worked, pushed } = effects;
    const { session } = call;
    const isElsewhere = async () => {
      const seen = session && (await seenPlace(session));
      if (seen && (await switchedTo(seen)) !== null) return true;
      return session !== null && seen?.place !== (await currentPlace(gitIn(directory)));
    };
    const mayAct = call.concerns || [call.shown, worked, pushed].some((found) => found.length > 0);
    if (mayAct || (await isElsewhere())) {
      const { afterTool } = await import("./stamping/after-tool.ts");
      const notes = await afterTool(call, effects);
      for (const { text } of notes) process.stderr.write(`tallygate: ${text}\n`);
      process.exitCode = notes.every(({ done }) => done) ? 0 : 1;
    }
  } catch (error) {
    process.stderr.write(`tallygate: ${error instanceof Error ? error.message : "failed"}\n`);
    process.exitCode = 1;
  }
}
