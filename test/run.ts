/**
 * Runs the test suites and ends with one line, `N passed, N failed`. `--quick` leaves out the suites that go over the
 * wire to a whole gateway, kill processes, or start real clients; further arguments are parts of file names to run.
 */
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
/** Suites that wait for the clock or for processes of their own: side by side they would disturb each other. */
const ALONE = /^test\/(faults|clients)\//;
/** Suites of a whole gateway or of much waiting, which take longer than a change should wait for. */
const WHOLE =
  /^test\/((wire|privacy|surfaces|rollups|classifier)\/|(contract\/errors|stores\/directory|reports\/surface|recorder\/full-spool|github-app\/main)\.)/;
const HOOK_MS = "60000";
/** What the machine's environment would change: every suite talks to servers of this machine. */
const PROXIES = {
  HTTP_PROXY: undefined,
  http_proxy: undefined,
  HTTPS_PROXY: undefined,
  https_proxy: undefined,
};

const words = process.argv.slice(2);
const parts = words.filter((word) => !word.startsWith("--"));

const files: string[] = [];
for await (const file of new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT)) {
  if (parts.length === 0 || parts.some((part) => file.includes(part))) files.push(file);
}
files.sort();

type Outcome = { status: number; passed: number; failed: number; skipped: number };

async function runSuites(suites: readonly string[], options: readonly string[]): Promise<Outcome> {
  if (suites.length === 0) return { status: 0, passed: 0, failed: 0, skipped: 0 };
  const run = Bun.spawn(
    [process.execPath, "test", "--timeout", HOOK_MS, ...options, ...suites.map((file) => `./${file}`)],
    {
      cwd: ROOT,
      stdout: "inherit",
      stderr: "pipe",
      env: { ...process.env, ...PROXIES, NODE_ENV: "test" },
    },
  );
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of run.stderr) {
    process.stderr.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4000);
  }
  const status = await run.exited;
  const count = (word: string) => Number(new RegExp(`^\\s*(\\d+) ${word}$`, "m").exec(tail)?.[1] ?? 0);
  const failed = count("fail") + (count("error") || count("errors"));
  return {
    status,
    passed: count("pass"),
    failed: status !== 0 && failed === 0 ? 1 : failed,
    skipped: count("skip"),
  };
}

const quick = words.includes("--quick");
const together = files.filter((file) => !ALONE.test(file) && !(quick && WHOLE.test(file)));
// Quick suites mostly wait; among the others some time what they do.
const outcomes = [await runSuites(together, [`--parallel=${quick ? 4 : 3}`])];
if (!quick)
  outcomes.push(
    await runSuites(
      files.filter((file) => ALONE.test(file)),
      [],
    ),
  );

const sum = (of: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[of], 0);
console.log(
  `${sum("passed")} passed, ${sum("failed")} failed${sum("skipped") > 0 ? `, ${sum("skipped")} skipped` : ""}`,
);
process.exit(outcomes.find(({ status }) => status !== 0)?.status ?? 0);
