import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { scratch, start } from "#test/support/embedded.ts";
import { figure } from "#test/support/figure.ts";
import { postgresGate } from "#test/support/postgres-gate.ts";
import { HAS_PROC, postmasterOf, signalFamily } from "#test/support/processes.ts";
import {
  openRow,
  ownDirectory,
  removeOwnDirectories,
  settledRow,
  testRecorder,
} from "#test/support/recorder-kit.ts";
import { casesTried } from "#test/support/tiers.ts";
import { until } from "#test/support/until.ts";

// The process that records and Postgres are killed and stopped for real. What was promised is compared with what is
// stored: `open` and `settle` had resolved, so the row must be there, once, and final.

const CHILD = join(import.meta.dir, "../support/recorder-child.ts");
const place = scratch();
const children: Bun.Subprocess[] = [];
let embedded: Embedded;
let sql: postgres.Sql;

beforeAll(async () => {
  embedded = await start(join(place.path, "data"));
  await migrate(embedded.url);
  sql = connect(embedded.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await sql.end();
  await embedded.stop();
  place.remove();
  removeOwnDirectories();
});

const filesIn = (directory: string) => readdirSync(directory).filter((name) => name.endsWith(".db"));

/** Starts a process that records with 20 workers. */
function startChild(directory: string) {
  // A file takes every line at once; a pipe may be full, and refuse one.
  const output = join(ownDirectory(), "output");
  const child = Bun.spawn([process.execPath, CHILD, directory, embedded.url, "20", "10"], {
    stdout: Bun.file(output),
    stderr: "inherit",
  });
  children.push(child);
  return {
    alive: () => child.exitCode === null,
    /** Resolves when it has kept its word so many times. */
    recorded: (times: number) =>
      until(async () => (await Bun.file(output).text()).split("\n").length > times),
    /** Kills it with -9; the ids of calls whose `open`, and whose `settle`, had resolved by then. */
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
      const lines = (await Bun.file(output).text()).split("\n");
      for (const line of lines) if (line.startsWith("{")) console.log(line);
      const idsOf = (kind: string) =>
        lines.filter((line) => line[0] === kind && line.length === 38).map((line) => line.slice(2));
      return { opened: idsOf("o"), settled: idsOf("s") };
    },
  };
}

/** The state of every row of `ids`, once Postgres answers; fails if one has two rows. */
async function statesOf(ids: readonly string[]): Promise<Map<string, string>> {
  const asked = () => sql<{ id: string; state: string }[]>`
    select id, state from requests where id = any(${[...ids]})`;
  const rows = await until(() => asked().catch(() => null));
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  expect(rows.length).toBe(states.size);
  return states;
}

test("through kill -9 of the process and of Postgres every promised row is there once, and final", async () => {
  const directory = ownDirectory();
  const opened: string[] = [];
  const settled: string[] = [];
  for (let round = 0; round < casesTried(3, 10); round++) {
    const child = startChild(directory);
    await child.recorded(120 + Math.random() * 400);
    if (round % 3 === 2) process.kill(await postmasterOf(embedded.data), "SIGKILL");
    const promised = await child.kill();
    opened.push(...promised.opened);
    settled.push(...promised.settled);
  }
  const recorder = await testRecorder({ databaseUrl: embedded.url, directory });
  await recorder.flushed(60_000);
  await recorder.close(5000);

  const states = await statesOf(opened);
  figure(`${opened.length} calls opened, ${settled.length} settled, ${states.size} rows`);
  expect(settled.length).toBeGreaterThan(0);
  expect(opened.filter((id) => !states.has(id))).toEqual([]);
  expect(settled.filter((id) => states.get(id) !== "ok")).toEqual([]);
  // One that was killed between its lock and its segment leaves the lock, which is removed after a minute.
  expect(readdirSync(directory).filter((name) => !/\.lock(-journal)?$/.test(name))).toEqual([]);
});

test("the segment of a process that dies is adopted by a running one, and not before it dies", async () => {
  const directory = ownDirectory();
  const child = startChild(directory);
  await until(() => filesIn(directory).length === 1);
  const recorder = await testRecorder({ databaseUrl: embedded.url, directory });
  await Bun.sleep(2500);
  expect(filesIn(directory)).toHaveLength(2);
  expect(child.alive()).toBe(true);

  const { opened, settled } = await child.kill();
  await until(() => filesIn(directory).length === 1);
  const states = await statesOf(opened);
  expect(settled.length).toBeGreaterThan(0);
  expect(opened.filter((id) => !states.has(id))).toEqual([]);
  expect(settled.filter((id) => states.get(id) !== "ok")).toEqual([]);
  await recorder.close(5000);
});

test.if(HAS_PROC)("a Postgres that hangs stops no call, and has every row after its return", async () => {
  const recorder = await testRecorder({ databaseUrl: embedded.url });
  const ids: string[] = [];
  const call = async () => {
    const row = openRow();
    await recorder.open(row);
    await recorder.settle(settledRow(row));
    ids.push(row.id);
  };
  for (let n = 0; n < 20; n++) await call();
  await recorder.flushed(60_000);
  const pid = await postmasterOf(embedded.data);
  signalFamily(pid, "SIGSTOP");
  try {
    // They all end, and Postgres says nothing meanwhile.
    while (recorder.stats().backlog <= 1000) await Promise.all(Array.from({ length: 5 }, call));
  } finally {
    signalFamily(pid, "SIGCONT");
  }
  await recorder.flushed(60_000);
  expect((await statesOf(ids)).size).toBe(ids.length);
  await recorder.close(5000);
});

test("a connection that falls silent is given up after 5 s, and its rows are written over a new one", async () => {
  const gate = await postgresGate(embedded.url);
  const recorder = await testRecorder({ databaseUrl: gate.url });
  const first = settledRow(openRow());
  await recorder.settle(first);
  await recorder.flushed(60_000);
  gate.strand();
  const second = settledRow(openRow());
  await recorder.settle(second);
  await recorder.flushed(60_000);
  expect(await statesOf([first.id, second.id])).toEqual(
    new Map([
      [first.id, "ok"],
      [second.id, "ok"],
    ]),
  );
  await recorder.close(2000);
  await gate.close();
});
