import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { connect } from "#drizzle/database.ts";
import { cutTo, flip, type KilledSpool, killedSpool } from "#test/support/damaged-spool.ts";
import { casesOf } from "#test/support/fault-run.ts";
import { type TestDatabase, testDatabase } from "#test/support/postgres.ts";
import {
  openRow,
  ownDirectory,
  removeOwnDirectories,
  settledRow,
  type TestRecorder,
  testRecorder,
} from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

// Spool files of killed gateways, and of a living one, are damaged. Whatever can be read must reach Postgres, whatever
// cannot must be counted, and nothing may wait behind it.

const COMMAND = join(import.meta.dir, "../../gateway/cli/tallygate.ts");
const CALLS = 300;
let database: TestDatabase;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
});

afterAll(async () => {
  await sql.end();
  await database.close();
  removeOwnDirectories();
});

async function statesOf(rows: readonly { id: string }[]): Promise<string[]> {
  const stored = await sql<{ state: string }[]>`
    select state from requests where id = any(${rows.map(({ id }) => id)})`;
  return stored.map(({ state }) => state);
}

const logged = ({ log }: TestRecorder, text: string) =>
  log.lines.filter((line) => JSON.stringify(line).includes(text));

/** Starts a recorder on the directory, waits until nothing is left, and compares what is stored with what was promised. */
async function takeOver({ directory, settled, open }: KilledSpool) {
  const recorder = await testRecorder({ databaseUrl: database.url, directory });
  await until(() => recorder.stats().damage.files > 0);
  await recorder.flushed(60_000);
  await until(() => !readdirSync(directory).some((name) => name.includes("recover")));
  await until(async () => {
    await recorder.flushed(60_000);
    return recorder.stats().backlog === 0;
  });
  const { lost, recovered } = recorder.stats().damage;
  const answered = (await statesOf(settled)).filter((state) => state === "ok").length;
  const interrupted = (await statesOf(open)).filter((state) => state === "interrupted").length;
  await recorder.close(2000);
  return { recorder, lost, recovered, answered, interrupted };
}

describe("a damaged spool file of a killed gateway", () => {
  const damages: [string, boolean, (stem: string) => void][] = [
    ["8 flipped bytes at the file's start", true, (stem) => flip(`${stem}.db`, 16, 8)],
    ["8 flipped bytes in the midst of the file", true, (stem) => flip(`${stem}.db`, 100_000, 8)],
    ["a page of zeros", true, (stem) => zeroPage(`${stem}.db`, 20)],
    ["64 flipped bytes in the midst of its log", false, (stem) => flip(`${stem}.db-wal`, 300_000, 64)],
    ["a flipped byte in the log's header", false, (stem) => flip(`${stem}.db-wal`, 16, 1)],
    ["a file cut to a third", true, (stem) => cutTo(`${stem}.db`, 1 / 3)],
    ["a log cut to a third", false, (stem) => cutTo(`${stem}.db-wal`, 1 / 3)],
    ["an empty file beside its log", false, (stem) => cutTo(`${stem}.db`, 0)],
    ["an empty file", true, (stem) => cutTo(`${stem}.db`, 0)],
  ];

  test.each(casesOf(damages, 4))(
    "%s: what can be read is stored, the rest counted, the file kept",
    async (_, copied, damage) => {
      const spool = await killedSpool(CALLS, copied);
      damage(spool.stem);
      const { recorder, lost, recovered, answered, interrupted } = await takeOver(spool);
      expect(recovered).toBe((await statesOf([...spool.settled, ...spool.open])).length);
      expect(answered + interrupted + lost).toBeGreaterThanOrEqual(CALLS + 5);
      expect(answered).toBeGreaterThanOrEqual(CALLS - lost);
      const kept = readdirSync(spool.directory).filter((name) => name.includes(".damaged."));
      expect(kept.some((name) => name.endsWith(".damaged.json"))).toBe(true);
      expect(kept.some((name) => name.endsWith(".damaged.db"))).toBe(true);
      expect(logged(recorder, "a spool file is damaged").length).toBe(1);
      expect(logged(recorder, `"lost":"${lost}"`).length).toBe(1);
    },
  );

  test("64 flipped bytes in its log cost at most the rows of two pages", async () => {
    const spool = await killedSpool(CALLS, false);
    flip(`${spool.stem}.db-wal`, 500_000, 64);
    expect((await takeOver(spool)).lost).toBeLessThanOrEqual(4);
  });

  test("without its mark, the loss is said to be unknown, and counts", async () => {
    const spool = await killedSpool(CALLS, false);
    rmSync(`${spool.stem}.mark`);
    flip(`${spool.stem}.db-wal`, 300_000, 64);
    const { recorder, lost } = await takeOver(spool);
    expect(lost).toBeGreaterThan(0);
    expect(logged(recorder, "an unknown number").length + logged(recorder, "at least").length).toBe(1);
  });

  test("a loss at the end of the log, which leaves no gap, is counted by the mark", async () => {
    const spool = await killedSpool(CALLS, false);
    cutTo(`${spool.stem}.db-wal`, 0);
    const { lost, answered } = await takeOver(spool);
    expect([answered + lost >= CALLS, lost > 0]).toEqual([true, true]);
  });

  test("a lock file of garbage holds nothing up", async () => {
    const spool = await killedSpool(CALLS, false);
    writeFileSync(`${spool.stem}.lock`, "garbage ".repeat(999));
    const recorder = await testRecorder({ databaseUrl: database.url, directory: spool.directory });
    await recorder.flushed(60_000);
    expect((await statesOf(spool.settled)).length).toBe(CALLS);
    expect(recorder.stats().damage.files).toBe(0);
    await recorder.close(2000);
  });
});

describe("tallygate spool", () => {
  const tallygate = (...words: string[]) => {
    const run = Bun.spawnSync([process.execPath, "--no-env-file", COMMAND, "spool", ...words], {
      stderr: "pipe",
    });
    return { status: run.exitCode, said: run.stdout.toString() + run.stderr.toString() };
  };

  test("inspect tells whole files from damaged ones, recover recovers these, and a gateway stores the rest", async () => {
    const spool = await killedSpool(CALLS, false);
    const place = ["--spool", spool.directory];
    expect(tallygate("inspect", ...place)).toMatchObject({
      status: 0,
      said: expect.stringMatching(/segment-\S+\.db +waiting +\d+ +300 +5/),
    });
    flip(`${spool.stem}.db-wal`, 300_000, 64);
    expect(tallygate("inspect", ...place)).toMatchObject({
      status: 1,
      said: expect.stringContaining("its write-ahead log is damaged"),
    });
    expect(tallygate("recover", ...place).said).toMatch(/segment-\S+\.db: \d+ records recovered, lost: \d+/);
    expect(tallygate("inspect", ...place)).toMatchObject({
      status: 0,
      said: expect.stringMatching(/\.damaged\.db +kept/),
    });
    // Once more, from the original: nothing is stored twice.
    const [original = ""] = readdirSync(spool.directory).filter((name) => name.endsWith(".damaged.db"));
    expect(tallygate("recover", join(spool.directory, original), ...place).status).toBe(0);
    const recorder = await testRecorder({ databaseUrl: database.url, directory: spool.directory });
    await recorder.flushed(60_000);
    expect((await statesOf(spool.settled)).length).toBeGreaterThan(CALLS - 5);
    await recorder.close(2000);
  });

  test("a directory that is not there is named", () => {
    expect(tallygate("inspect", "--spool", "/no/such/spool")).toMatchObject({
      status: 1,
      said: expect.stringContaining("There is no spool in /no/such/spool."),
    });
  });
});

test("a page that goes bad under a running gateway holds up no record behind it, and loses no call under way", async () => {
  const directory = ownDirectory();
  // Postgres is out of reach, so that everything waits in the file.
  const recorder = await testRecorder({ databaseUrl: "postgres://t:t@127.0.0.1:1/t", directory });
  const running = openRow();
  const rows = Array.from({ length: CALLS }, () => openRow());
  await recorder.open(running);
  for (const row of rows) {
    await recorder.open(row);
    await recorder.settle(settledRow(row));
  }
  const [file = ""] = readdirSync(directory).filter((name) => name.endsWith(".db"));
  spoilSettlements(join(directory, file));
  await until(() => recorder.stats().damage.files === 1);
  expect(recorder.accepting()).toBe(true);
  const late = openRow();
  await recorder.open(late);
  await recorder.settle(settledRow(late));
  await recorder.settle(settledRow(running));
  const { lost } = recorder.stats().damage;
  await recorder.close(500);

  const next = await testRecorder({ databaseUrl: database.url, directory });
  await until(async () => (await statesOf([running, late])).length === 2);
  await next.flushed(60_000);
  expect(await statesOf([running, late])).toEqual(["ok", "ok"]);
  const stored = (await statesOf(rows)).filter((state) => state === "ok").length;
  expect(stored).toBe(CALLS - lost);
  await next.close(2000);
});

function zeroPage(path: string, page: number): void {
  const content = readFileSync(path);
  content.fill(0, (page - 1) * 2048, page * 2048);
  writeFileSync(path, content);
}

/** Changes a stored row behind the gateway's back, as a bad sector would. */
function spoilSettlements(path: string): void {
  const db = new Database(path, { readwrite: true });
  db.run("PRAGMA busy_timeout = 5000");
  db.run("UPDATE settlements SET body = 'spoiled' WHERE seq = 100");
  db.close();
}
