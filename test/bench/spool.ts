/**
 * What recording costs: microseconds per call (one open, one settle) through the recorder at several numbers of calls
 * at once, against one synchronous SQLite transaction per record, and how fast a backlog reaches Postgres.
 * Run with `bun test/bench/spool.ts`; takes about five seconds.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { testDatabase } from "../support/postgres.ts";
import { postgresGate } from "../support/postgres-gate.ts";
import {
  openRow,
  ownDirectory,
  removeOwnDirectories,
  settledRow,
  testRecorder,
} from "../support/recorder-kit.ts";

const CALLS = 20_000;

type Figures = { name: string; usPerCall: number; cpuUsPerCall: number; p50Ms: number; p99Ms: number };

async function measure(name: string, calls: number, work: (took: (ms: number) => void) => Promise<void>) {
  const tookMs: number[] = [];
  const cpu = process.cpuUsage();
  const since = performance.now();
  await work((ms) => tookMs.push(ms));
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => tookMs[Math.floor(tookMs.length * share)] ?? 0;
  const figures = { name, usPerCall: (ms * 1000) / calls, cpuUsPerCall: (user + system) / calls };
  return { ...figures, p50Ms: at(0.5), p99Ms: at(0.99) } satisfies Figures;
}

/** The plain way: every record a transaction of its own, written where it arises. */
function plain(sync: "NORMAL" | "FULL", calls: number): Promise<Figures> {
  const db = new Database(join(ownDirectory(), "plain.db"));
  db.run("PRAGMA journal_mode = WAL");
  db.run(`PRAGMA synchronous = ${sync}`);
  db.run("CREATE TABLE calls (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
  const put = db.prepare("INSERT OR REPLACE INTO calls VALUES (?, ?)");
  return measure(`plain, synchronous=${sync}`, calls, async (took) => {
    for (let n = 0; n < calls; n++) {
      const row = openRow();
      const since = performance.now();
      put.run(row.id, JSON.stringify(row));
      put.run(row.id, JSON.stringify(settledRow(row)));
      took(performance.now() - since);
    }
  });
}

const database = await testDatabase();
const gate = await postgresGate(database.url);

async function recorded(atOnce: number): Promise<{ figures: Figures; rowsPerSecond: number }> {
  const recorder = await testRecorder({ databaseUrl: gate.url, bytesMax: 1024 ** 3 });
  await gate.shut();
  let left = CALLS;
  const figures = await measure(`recorder, ${atOnce} at once`, CALLS, async (took) => {
    const work = async () => {
      while (left-- > 0) {
        const row = openRow();
        const since = performance.now();
        await recorder.open(row);
        await recorder.settle(settledRow(row));
        took(performance.now() - since);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  });
  await gate.open();
  const backlog = recorder.stats().backlog;
  while (recorder.stats().backlog === backlog) await Bun.sleep(1);
  const since = performance.now();
  await recorder.flushed(30_000);
  const rowsPerSecond = (backlog / (performance.now() - since)) * 1000;
  await recorder.close(5000);
  return { figures, rowsPerSecond };
}

const base = await plain("NORMAL", CALLS);
const full = await plain("FULL", 2000);
const runs = [await recorded(1), await recorded(10), await recorded(100)];

console.log("way                          us/call  CPU us  of plain  p50 ms  p99 ms");
for (const { name, usPerCall, cpuUsPerCall, p50Ms, p99Ms } of [
  base,
  full,
  ...runs.map((run) => run.figures),
]) {
  const figures = [usPerCall.toFixed(1), cpuUsPerCall.toFixed(1), (usPerCall / base.usPerCall).toFixed(2)];
  const columns = [...figures, p50Ms.toFixed(3), p99Ms.toFixed(3)].map((text) => text.padStart(8));
  console.log(name.padEnd(28), columns.join(""));
}
console.log(`backlog to Postgres: ${runs.map((run) => run.rowsPerSecond.toFixed(0)).join(", ")} rows/s`);
await gate.close();
await database.close();
removeOwnDirectories();
process.exit(0);
