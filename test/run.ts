/**
 * Runs the test suites and ends with one line, `N passed, N failed`. See `HELP` for what it takes.
 */
import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RUNTIME } from "#gateway/cli/start/environment.ts";
import { endFile } from "./support/at-end.ts";
import type { SharedBrowser } from "./support/browser.ts";
import { SERVER_URL, startClickHouse } from "./support/clickhouse.ts";
import { failuresIn } from "./support/failures.ts";
import { writeFaultResults } from "./support/fault-results.ts";
import { changedSince, reachedFrom } from "./support/import-graph.ts";
import { SERVER_DIRECTORY, startTestServer } from "./support/postgres.ts";
import { readUsed, USED } from "./support/processor-time.ts";
import { isQuick } from "./support/quick-suites.ts";
import { costOf } from "./support/run-cost.ts";
import { ALL, isSlow } from "./support/tiers.ts";
import { TRANSPILED } from "./support/transpiled.ts";

const HELP = `Usage: bun run test [PART …] [option]

Runs the suites whose path contains one of PART, or all but the slow ones.

  --all             the slow suites too, and long forms of those that have two
  --changed[=REF]   the suites, slow ones included, that reach what differs from REF (default: HEAD)
  --quick           those that start no process, database or browser
  --faults          the fault suite in full; writes test/faults/RESULTS.md
  --clickhouse      a ClickHouse (chDB) behind each gateway process`;

const ROOT = join(import.meta.dir, "..");
/** Suites mostly wait for processes and for Postgres, so more of them run at a time than there are processors. */
const AT_A_TIME = 4;

const words = process.argv.slice(2);
const has = (option: string) => words.includes(option);
if (has("--help")) {
  console.log(HELP);
  process.exit(0);
}
const faults = has("--faults");
const changed = words.find((word) => /^--changed(=|$)/.test(word))?.replace(/^--changed=?/, "");
const parts = words.filter((word) => !word.startsWith("--"));
/** A suite that is named runs, however slow it is. */
const all = has("--all") || faults || changed !== undefined || parts.length > 0;
const long = has("--all") || faults || changed !== undefined;

const files = await selected();

async function selected(): Promise<string[]> {
  const differing = changed === undefined ? null : changedSince(changed || "HEAD");
  const found: string[] = [];
  for await (const file of new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT)) {
    if (has("--quick") && !isQuick(file)) continue;
    if (faults && !file.startsWith("test/faults/")) continue;
    if (!all && isSlow(file)) continue;
    if (parts.length > 0 && !parts.some((part) => file.includes(part))) continue;
    if (differing !== null) {
      const reached = reachedFrom(file);
      if (!differing.some((it) => reached.has(it))) continue;
    }
    found.push(file);
  }
  return found.sort();
}

if (changed !== undefined) {
  const slow = files.filter(isSlow);
  console.log(`${files.length} suites reach what differs from ${changed || "HEAD"}.`);
  if (slow.length > 0) console.log(`Slow ones among them:\n${slow.map((file) => `  ${file}`).join("\n")}`);
}
if (files.length === 0) {
  console.log("0 passed, 0 failed");
  process.exit(0);
}

const timings = join(
  tmpdir(),
  `tallygate-test-times-${process.getuid?.() ?? 0}-${Bun.hash(ROOT).toString(36)}.json`,
);
type Timings = { version: 1; files: Record<string, number> };

/** How long each file took the last time, by which the slowest are started first; a guess before the first time. */
async function guessTimings(): Promise<void> {
  if (existsSync(timings)) return;
  const guessed: Timings = { version: 1, files: {} };
  for (const file of files) guessed.files[file] = isQuick(file) ? 1_000 : 10_000;
  await Bun.write(timings, JSON.stringify(guessed));
}

/** Passes on what `bun test` prints; returns it without colours. */
async function passOn(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of output) {
    process.stderr.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return Bun.stripANSI(text);
}

const readTimings = async (): Promise<Timings> => await Bun.file(timings).json();

/** The console and the browser of all files that open pages, if there are any. */
async function prepareConsole(): Promise<SharedBrowser | null> {
  const opensPages = async (file: string) =>
    (await Bun.file(join(ROOT, file)).text()).includes("support/browser.ts");
  if (!(await Promise.all(files.map(opensPages))).includes(true)) return null;
  const { builtPages, startBrowser } = await import("./support/browser.ts");
  // A fault of the build is the suites' to report.
  await builtPages().catch(() => undefined);
  return await startBrowser();
}

/** The coding agents that suites start: two in every run, the others in those of `test/agents`. */
async function prepareClients(): Promise<void> {
  const all = files.some((file) => file.startsWith("test/agents/"));
  if (!all && !files.includes("test/clients/agents.test.ts")) return;
  const { prepareAgents } = await import("./support/agents.ts");
  await prepareAgents(all);
}

const [browser] = await Promise.all([prepareConsole(), prepareClients()]);
await guessTimings();
// Quick suites use no database.
const server = has("--quick") ? null : await startTestServer();
const clickhouseUrl = has("--clickhouse") ? (await startClickHouse()).url : null;
const usedPath = join(tmpdir(), `tallygate-test-used-${process.pid}`);
const run = Bun.spawn(
  [
    process.execPath,
    "test",
    // Files of a process share its modules: loading the gateway for each would cost more than most suites.
    ...[`--parallel=${AT_A_TIME}`, "--no-isolate", `--timings=${timings}`, "--update-timings"],
    ...files.map((file) => `./${file}`),
  ],
  {
    cwd: ROOT,
    stdout: "inherit",
    stderr: "pipe",
    env: {
      ...process.env,
      ...RUNTIME,
      NODE_ENV: "test",
      // Every suite talks to servers of this machine.
      ...Object.fromEntries(
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"].map((name) => [name, undefined]),
      ),
      // What the suites start ends with them, also when this process is killed.
      BUN_FEATURE_FLAG_NO_ORPHANS: "1",
      ...TRANSPILED,
      ...(server !== null && { [SERVER_DIRECTORY]: server.directory }),
      ...browser?.env,
      ...(clickhouseUrl !== null && { [SERVER_URL]: clickhouseUrl }),
      ...(long && { [ALL]: "1" }),
      FAULTS: long ? "all" : "short",
      [USED]: usedPath,
    },
  },
);
const printed = await passOn(run.stderr);
const status = await run.exited;
const shared = { Postgres: server?.used() ?? null, Chromium: (await browser?.close()) ?? null };
await server?.admin.end();
await server?.remove();
await endFile();

const times = await readTimings();
const secondsOf = (file: string) => (times.files[file] ?? 0) / 1000;
if (faults) writeFaultResults(printed, new Date().toISOString().slice(0, 10), secondsOf);
for (const { test, why } of failuresIn(printed)) console.log(`\nFailed: ${test}\n${why}`);
const used = readUsed(usedPath);
rmSync(usedPath, { force: true });
console.log(costOf(used, { secondsOf, shared, files, budgeted: !all && !has("--quick") }));

const count = (word: string) =>
  Number(new RegExp(`^\\s*(\\d+) ${word}s?$`, "m").exec(printed.slice(-4000))?.[1] ?? 0);
const failed = Math.max(count("fail") + count("error"), status === 0 ? 0 : 1);
const skipped = count("skip");
if (skipped > 0) console.log(`${skipped} skipped: this machine lacks what they run`);
console.log(`${count("pass")} passed, ${failed} failed`);
process.exit(failed > 0 ? status || 1 : 0);
