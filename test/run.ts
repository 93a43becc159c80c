/**
 * Runs the test suites and ends with one line, `N passed, N failed`. `--quick` leaves out the suites that kill
 * processes, start real clients or drive a browser; further arguments are parts of file names to run.
 */
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const SLOW = /^test\/(faults|clients|web)\//;

const words = process.argv.slice(2);
const quick = words.includes("--quick");
const parts = words.filter((word) => !word.startsWith("--"));

const files: string[] = [];
for await (const file of new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT)) {
  const wanted = parts.length === 0 || parts.some((part) => file.includes(part));
  if (wanted && !(quick && SLOW.test(file))) files.push(`./${file}`);
}

const run = Bun.spawn([process.execPath, "test", "--timeout", "60000", ...files.sort()], {
  cwd: ROOT,
  stdout: "inherit",
  stderr: "pipe",
  env: { ...process.env, NODE_ENV: "test" },
});

let tail = "";
const decoder = new TextDecoder();
for await (const chunk of run.stderr) {
  process.stderr.write(chunk);
  tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4000);
}
const status = await run.exited;
const count = (word: string) => Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(tail)?.[1] ?? 0);
const failed = count("fail") + (count("error") || count("errors"));
console.log(`${count("pass")} passed, ${status !== 0 && failed === 0 ? 1 : failed} failed`);
process.exit(status);
