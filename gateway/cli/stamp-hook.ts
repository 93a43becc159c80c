import { readHookInput } from "./stamping/hook-input.ts";

// `tallygate install` sets this as the agents' post-tool hook. Most tools concern neither a pull request nor a branch, so
// the rest is loaded only when one may.

const call = readHookInput(await Bun.stdin.text());
if (call?.concerns || call?.works) {
  const { linkAsHook, stampAsHook } = await import("./commands/pr.ts");
  try {
    if (call.concerns) process.exitCode = await stampAsHook(call);
    await linkAsHook(call);
  } catch (error) {
    process.stderr.write(`tallygate: ${error instanceof Error ? error.message : "failed"}\n`);
    process.exitCode = 1;
  }
}
