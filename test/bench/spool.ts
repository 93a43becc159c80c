/**
 * What recording costs without a gateway around it: time and CPU per call (one open, one settle) while Postgres is away,
 * at several numbers of concurrent calls, and how fast the backlog reaches Postgres afterwards.
 *
 *   bun test/bench/spool.ts
 */
import { testDatabase } from "../support/postgres.ts";
import { postgresGate } from "../support/postgres-gate.ts";
import { openRow, removeOwnDirectories, settledRow, testRecorder } from "../support/recorder-kit.ts";

const CALLS = 20_000;

const database = await testDatabase();
const gate = await postgresGate(database.url);

async function measure(concurrent: number) {
  const recorder = await testRecorder({ databaseUrl: gate.url, bytesMax: 1024 ** 3 });
  await gate.shut();
  const tookMs: number[] = [];
  let left = CALLS;
  const work = async () => {
    while (left-- > 0) {
      const row = openRow();
      const since = performance.now();
      await recorder.open(row);
      await recorder.settle(settledRow(row));
      tookMs.push(performance.now() - since);
    }
  };
  const cpu = process.cpuUsage();
  const since = performance.now();
  await Promise.all(Array.from({ length: concurrent }, work));
  const ms = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  tookMs.sort((a, b) => a - b);

  await gate.open();
  const { backlog } = recorder.stats();
  while (recorder.stats().backlog === backlog) await Bun.sleep(1);
  const openedAt = performance.now();
  await recorder.flushed(300_000);
  const drainMs = performance.now() - openedAt;
  await recorder.close(5000);
  return {
    concurrent,
    "µs/call": ((ms * 1000) / CALLS).toFixed(1),
    "CPU µs/call": ((user + system) / CALLS).toFixed(1),
    "p50 ms": tookMs[CALLS / 2]?.toFixed(3),
    "p99 ms": tookMs[Math.floor(CALLS * 0.99)]?.toFixed(3),
    "rows/s to Postgres": Math.round((backlog / drainMs) * 1000),
  };
}

const rows = [];
for (const concurrent of [1, 4, 16, 100]) rows.push(await measure(concurrent));
console.table(rows);
await gate.close();
await database.close();
removeOwnDirectories();
process.exit(0);
