import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startFlusher } from "#gateway/recorder/flusher.ts";
import { keptLog } from "#test/support/embedded.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { smallDisk } from "#test/support/small-disk.ts";
import { until } from "#test/support/until.ts";

const disk = smallDisk(8);

afterAll(() => {
  disk.remove();
  removeOwnDirectories();
});

function walFile(path: string): Database {
  const db = new Database(path, { create: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("CREATE TABLE settlements (seq INTEGER PRIMARY KEY, body TEXT)");
  return db;
}

/** A flusher, what it said about failing, and its log lines. */
function started(path: string) {
  const log = keptLog();
  const failing: boolean[] = [];
  const stop = startFlusher(path, { log, onFailing: (isFailing) => failing.push(isFailing) });
  return { stop, failing, messages: () => log.lines.map(({ message }) => message) };
}

test.if(disk.mounted)("a log that cannot be copied into its file is reported until it can", async () => {
  const path = join(disk.directory, "segment.db");
  const db = walFile(path);
  const { stop, failing, messages } = started(path);
  db.run("INSERT INTO settlements VALUES (1, zeroblob(1000000))");
  disk.fill();
  await until(() => failing.length > 0);
  disk.free();
  await until(() => failing.length > 1);
  expect(failing).toEqual([true, false]);
  expect(messages()).toEqual([
    "the spool cannot be flushed to the disk",
    "the spool is flushed to the disk again",
  ]);
  await stop();
  db.close();
});

test("a worker that dies is restarted, and syncs", async () => {
  const path = join(ownDirectory(), "segment.db");
  // It finds no file, and dies.
  const { stop, failing, messages } = started(path);
  await until(() => messages().includes("the spool's flush worker died and is restarted"));
  const db = walFile(path);
  // It copies the log into the file every 2 s: once it did, nothing is left to copy.
  db.run("INSERT INTO settlements VALUES (1, '{}')");
  const copied = () => Bun.file(path).size > 4096;
  await until(copied);
  expect(failing.includes(true)).toBe(false);
  await stop();
  db.close();
});
