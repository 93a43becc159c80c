/**
 * Runs the test suites and ends with one line, `N passed, N failed`. `--quick` runs those that start no process, database
 * or browser; `--faults` runs the fault suite alone and in full, and keeps its figures in test/faults/RESULTS.md; `--clickhouse` gives each gateway process a ClickHouse (chDB) for its reports;
 * further arguments are parts of file names to run.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endFile } from "./support/at-end.ts";
import { SERVER_URL, startClickHouse } from "./support/clickhouse.ts";
import { failuresIn } from "./support/failures.ts";
import { writeFaultResults } from "./support/fault-results.ts";
import { SERVER_DIRECTORY, startTestServer } from "./support/postgres.ts";
import { isQuick } from "./support/quick-suites.ts";
import { TRANSPILED } from "./support/transpiled.ts";

const ROOT = join(import.meta.dir, "..");
/** Suites mostly wait for processes and for Postgres, so more of them run at a time than there are processors. */
const AT_A_TIME = 4;
const SLOWEST_SHOWN = 15;

const words = process.argv.slice(2);
const quick = words.includes("--quick");
const faults = words.includes("--faults");
const clickhouse = words.includes("--clickhouse");
const parts = words.filter((word) => !word.startsWith("--"));

const files: string[] = [];
for await (const file of new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT)) {
  if (quick && !isQuick(file)) continue;
  if (faults && !file.startsWith("test/faults/")) continue;
  if (parts.length === 0 || parts.some((part) => file.includes(part))) files.push(file);
}
files.sort();

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

async function slowest(): Promise<string[]> {
  const times = await readTimings();
  return files
    .map((file) => ({ file, ms: times.files[file] ?? 0 }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST_SHOWN)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
}

/** The browser and the console, which files that run at the same time would all unpack and build. */
async function prepareConsole(): Promise<void> {
  if (!files.some((file) => file.startsWith("test/pages/"))) return;
  const { builtPages } = await import("./support/browser.ts");
  // A fault of the build is the suites' to report.
  await builtPages().catch(() => undefined);
}

/** The coding agents, which the suites of clients start. */
async function prepareClients(): Promise<void> {
  if (!files.some((file) => file.startsWith("test/clients/"))) return;
  const { prepareAgents } = await import("./support/agents.ts");
  await prepareAgents();
}

await Promise.all([prepareConsole(), prepareClients()]);
await guessTimings();
// Quick suites use no database.
const server = quick ? null : await startTestServer();
const clickhouseUrl = clickhouse ? (await startClickHouse()).url : null;
const run = Bun.spawn(
  [
    process.execPath,
    "test",
    ...[`--parallel=${AT_A_TIME}`, `--timings=${timings}`, "--update-timings"],
    ...files.map((file) => `./${file}`),
  ],
  {
    cwd: ROOT,
    stdout: "inherit",
    stderr: "pipe",
    env: {
      ...process.env,
      NODE_ENV: "test",
      // Every suite talks to servers of this machine.
      ...Object.fromEntries(
        ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"].map((name) => [name, undefined]),
      ),
      // What the suites start ends with them, also when this process is killed.
      BUN_FEATURE_FLAG_NO_ORPHANS: "1",
      ...TRANSPILED,
      ...(server !== null && { [SERVER_DIRECTORY]: server.directory }),
      ...(clickhouseUrl !== null && { [SERVER_URL]: clickhouseUrl }),
      FAULTS: faults ? "all" : "short",
    },
  },
);
const printed = await passOn(run.stderr);
const status = await run.exited;
await server?.admin.end();
await server?.remove();
await endFile();

if (faults) {
  const times = await readTimings();
  const today = new Date().toISOString().slice(0, 10);
  writeFaultResults(printed, today, (file) => (times.files[file] ?? 0) / 1000);
}
const failures = failuresIn(printed);
for (const { test, why } of failures) console.log(`\nFailed: ${test}\n${why}`);
console.log(`\nSlowest:\n${(await slowest()).join("\n")}\n`);

const count = (word: string) =>
  Number(new RegExp(`^\\s*(\\d+) ${word}s?$`, "m").exec(printed.slice(-4000))?.[1] ?? 0);
const failed = Math.max(count("fail") + count("error"), status === 0 ? 0 : 1);
const skipped = count("skip");
if (skipped > 0) console.log(`${skipped} skipped: this machine lacks what they run`);
console.log(`${count("pass")} passed, ${failed} failed`);
process.exit(failed > 0 ? status || 1 : 0);
