import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { connect } from "#drizzle/database.ts";
import type { Embedded } from "#drizzle/embedded/supervisor.ts";
import { migrate } from "#drizzle/migrate.ts";
import { checkSpec } from "#gateway/reports/spec.ts";
import { givingWay, NICENESS } from "#gateway/stores/give-way.ts";
import { openRecordStore } from "#gateway/stores/records.ts";
import { reportWriter } from "#gateway/stores/reports/report-worker.ts";
import { WHOLE_SHARE } from "#gateway/stores/reports/share.ts";
import { leavesCoresFree, neverInterrupts, sliceNs } from "#gateway/stores/time-slices.ts";
import { systemClock } from "#shared/clock.ts";
import { ask, keptLog, scratch, start } from "#test/support/embedded.ts";
import { openRow, settledRow } from "#test/support/recorder-kit.ts";
import { databaseProxy } from "../stores/database-proxy.ts";

const place = scratch();
let database: Embedded;

beforeAll(async () => {
  database = await start(join(place.path, "data"));
  await migrate(database.url);
});
afterAll(async () => {
  for (const started of children) started.kill();
  await database.stop();
  place.remove();
});

/** Its own niceness, and its session's where sessions have one. */
function nicenessOf(pid: number): number[] {
  const group = `/proc/${pid}/autogroup`;
  const session = existsSync(group) ? [Number(/nice (-?\d+)/.exec(readFileSync(group, "utf8"))?.[1])] : [];
  return [getPriority(pid), ...session];
}
const backendOf = async (name: string) =>
  Number(
    await ask(database.url, `select pid from pg_stat_activity where application_name = 'tallygate ${name}'`),
  );

const BACKEND = "postgres: tallygate";
const own = getPriority(process.pid);
const children: Bun.Subprocess[] = [];

/** A process of this one that goes by the name; `leads`: in a session of its own. */
function child(name: string, leads: boolean): number {
  const started = Bun.spawn(["sleep", "60"], { argv0: name, detached: leads });
  children.push(started);
  // Right after the start its command line may still be empty.
  while (!readFileSync(`/proc/${started.pid}/cmdline`, "utf8").startsWith(name)) Bun.sleepSync(1);
  return started.pid;
}

/** A directory that says that the server of its files is this process. */
function serverWith(name: string, pid: number): string {
  const directory = join(place.path, name);
  mkdirSync(directory);
  writeFileSync(join(directory, "postmaster.pid"), `${pid}\n`);
  return directory;
}

const SPEC = checkSpec({
  source: "requests",
  dimensions: [],
  measures: ["requests"],
  filters: {},
  range: "7d",
  compare: "none",
  view: "table",
});

const WAITING_REPORT =
  "select query from pg_stat_activity where application_name = 'tallygate reports' and wait_event_type = 'Lock'";

// Elsewhere a thread or a process cannot be given way by number.
describe.skipIf(process.platform !== "linux")("Postgres on the same machine", () => {
  test("works for reports with less priority than for anything else", async () => {
    const { url } = database;
    const writer = reportWriter({ url, mainUrl: url }, { log: keptLog(), clock: systemClock });
    const control = connect(database.url, { name: "control", max: 1, statementTimeoutMs: 5_000 });
    try {
      await control`select 1`;
      await writer.write(SPEC, new Date(), "json");
      expect(new Set(nicenessOf(await backendOf("reports")))).toEqual(new Set([NICENESS.reports]));
      const other = await backendOf("control");
      expect(nicenessOf(other)[0]).toBe(own);
      // Null for both where the kernel does not tell.
      const [slice, usual] = [sliceNs(await backendOf("reports")), sliceNs(other)];
      expect(slice ?? 1n).toBeGreaterThan(usual ?? 0n);
      expect(leavesCoresFree(await backendOf("reports"))).not.toBe(false);
      expect(leavesCoresFree(other)).not.toBe(true);
    } finally {
      await writer.close();
      await control.end();
    }
  });

  test("begins no further processes for reports while calls are answered: those have the usual priority", async () => {
    const { url } = database;
    const control = connect(url, { name: "control", max: 1, statementTimeoutMs: 5_000 });
    const firstWords = async (isBesideCalls: boolean) => {
      const share = { ...WHOLE_SHARE, isBesideCalls: () => isBesideCalls };
      const writer = reportWriter({ url, mainUrl: url }, { log: keptLog(), clock: systemClock, share });
      const told = await control.begin(async (sql) => {
        // What a report asks first must wait for that, and can be seen.
        await sql`lock table requests in access exclusive mode`;
        void writer.write(SPEC, new Date(), "json");
        for (;;) {
          // From another connection: within a transaction that table stays as it was at first.
          const query = await ask(url, WAITING_REPORT);
          if (query) return query;
          await Bun.sleep(5);
        }
      });
      await writer.close();
      return told;
    };
    try {
      expect(await firstWords(true)).toStartWith("set local max_parallel_workers_per_gather = 0;");
      expect(await firstWords(false)).toStartWith("lock table requests");
    } finally {
      await control.end();
    }
  });

  test("records with less priority than calls are answered with, but not while rows come faster than it writes", async () => {
    const store = openRecordStore(database.url);
    const write = async () => await store.insert([JSON.stringify(settledRow(openRow()))]);
    const niceness = async () => new Set(nicenessOf(await backendOf("recorder")));
    try {
      await write();
      expect(await niceness()).toEqual(new Set([NICENESS.records]));
      const first = await backendOf("recorder");
      expect(neverInterrupts(first)).not.toBe(false);
      store.hasten(true);
      await write();
      while ((await backendOf("recorder")) === first) await Bun.sleep(5);
      expect(nicenessOf(await backendOf("recorder"))[0]).toBe(own);
      expect(neverInterrupts(await backendOf("recorder"))).not.toBe(true);
      store.hasten(false);
      await write();
      expect(await niceness()).toEqual(new Set([NICENESS.records]));
    } finally {
      await store.close();
    }
  });

  test("keeps its connection for records where it does not give way, however fast they come", async () => {
    const proxy = await databaseProxy(database.url);
    const store = openRecordStore(proxy.url);
    const write = async () => await store.insert([JSON.stringify(settledRow(openRow()))]);
    try {
      await write();
      const first = await backendOf("recorder");
      store.hasten(true);
      await write();
      expect(await backendOf("recorder")).toBe(first);
    } finally {
      await store.close();
      proxy.close();
    }
  });

  test("is the only thing that gives way: not what merely has the number, the name or the parent", async () => {
    const directory = serverWith("elsewhere", process.pid);
    // Ours and a leader, but of another name; ours and of the name, but in our own session; of another server.
    const unnamed = child("sleep", true);
    const ledByUs = child(BACKEND, false);
    const foreign = child(BACKEND, true);
    const giveWay = givingWay(database.url, NICENESS.reports);
    giveWay({ pid: unnamed, directory });
    giveWay({ pid: ledByUs, directory });
    giveWay({ pid: foreign, directory: serverWith("another", 1) });
    expect([unnamed, ledByUs, foreign].map((pid) => getPriority(pid))).toEqual(Array(3).fill(own));
  });

  test("is left alone where it is asked over the network, or does not say where its files lie", () => {
    const directory = serverWith("own", process.pid);
    const pid = child(BACKEND, true);
    givingWay("postgres://tallygate@127.0.0.1:5432/tallygate", NICENESS.reports)({ pid, directory });
    givingWay(database.url, NICENESS.reports)({ pid, directory: null });
    givingWay(database.url, NICENESS.reports)(undefined);
    expect(getPriority(pid)).toBe(own);
    givingWay(database.url, NICENESS.reports)({ pid, directory });
    expect(getPriority(pid)).toBe(NICENESS.reports);
  });
});
