import { readHookInput } from "./stamping/hook-input.ts";

// `tallygate install` sets this as the agents' post-tool hook. Most tools concern no pull request, so the rest is
// loaded only when one may.

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
