import { readHookInput } from "./stamping/hook-input.ts";

// What `tallygate install` gives to agents as their hook after a tool. Most tools concern no pull request, so the rest is
// loaded only where one may.

const call = readHookInput(await Bun.stdin.text());
if (call?.concerns) {
  const { stampAsHook } = await import("./commands/pr.ts");
  try {
    process.exitCode = await stampAsHook(call);
  } catch (error) {
    process.stderr.write(`tallygate: ${error instanceof Error ? error.message : "failed"}\n`);
    process.exitCode = 1;
  }
}
