import { expect, test } from "bun:test";
import { join } from "node:path";

const LOG = join(import.meta.dir, "../../shared/log.ts");

test("what nothing catches is logged by its class, and nothing of its message is printed", async () => {
  const script = `
    const { createLog, logUncaught } = await import(${JSON.stringify(LOG)});
    logUncaught(createLog("child", "info"), () => process.exit(3));
    void Promise.reject(new RangeError(["canary", "rejected"].join("-")));
    setTimeout(() => JSON.parse(["canary", "thrown"].join("-")), 10);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(3);
  const lines = out
    .trim()
    .split("\n")
    .map((line): { error: string; msg: string } => JSON.parse(line));
  expect(lines.map(({ error, msg }) => [error, msg])).toEqual([
    ["RangeError", "unhandled rejection"],
    ["SyntaxError", "uncaught exception: stopping"],
  ]);
  expect(out + err).not.toContain("canary-");
});
