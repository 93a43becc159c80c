import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFlusher } from "#gateway/recorder/flusher.ts";
import { keptLog } from "#test/support/embedded.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

function spoolFile(path: string): Database {
  const db = new Database(path, { create: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("CREATE TABLE turns (n INTEGER PRIMARY KEY)");
  return db;
}

/** A device of which the system says that it cannot be brought to a disk. */
const NO_DISK = "/dev/null";

test.if(process.platform === "linux")(
  "nothing is said to be on the disk while it cannot be brought there",
  async () => {
    const path = join(ownDirectory(), "spool.db");
    const db = spoolFile(path);
    const log = keptLog();
    const flusher = startFlusher(path, NO_DISK, log);
    let answers = 0;
    for (let n = 0; n < 3; n++) flusher.sync(() => answers++);
    while (!JSON.stringify(log).includes("cannot be flushed")) await Bun.sleep(5);
    await Bun.sleep(300);
    expect(answers).toBe(0);
    await flusher.stop();
    db.close();
  },
);

test("what is asked of a worker that dies is answered by the next one, each question once and in order", async () => {
  const path = join(ownDirectory(), "spool.db");
  const headPath = path.replace(/db$/, "head");
  const log = keptLog();
  // It finds no file, and dies.
  const flusher = startFlusher(path, headPath, log);
  const answers: string[] = [];
  flusher.sync(() => answers.push("to the first"));
  while (!JSON.stringify(log).includes("is started again")) await Bun.sleep(5);
  flusher.sync(() => answers.push("to none"));
  writeFileSync(headPath, "x");
  const db = spoolFile(path);
  while (answers.length === 0) await Bun.sleep(5);
  flusher.sync(() => answers.push("to the second"));
  while (answers.length < 3) await Bun.sleep(5);
  await Bun.sleep(200);
  expect(answers).toEqual(["to the first", "to none", "to the second"]);
  await flusher.stop();
  db.close();
});
