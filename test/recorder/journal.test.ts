import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { makeHeads } from "#gateway/recorder/heads.ts";
import { startJournal } from "#gateway/recorder/journal.ts";
import { openTurnLog } from "#gateway/recorder/turn-log.ts";
import { systemClock } from "#shared/clock.ts";
import { keptLog } from "#test/support/embedded.ts";
import { HAS_HEADS, ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { until } from "#test/support/until.ts";

afterAll(removeOwnDirectories);

function started(bytesMax: number) {
  const directory = ownDirectory();
  const path = join(directory, "spool.db");
  const file = openTurnLog({
    path,
    sync: "normal",
    bytesMax,
    create: true,
    ...(HAS_HEADS && { heads: makeHeads(path) }),
  });
  const log = keptLog();
  const options = { file, directory, bytesMax, log, clock: systemClock, onSettled: () => undefined };
  return { journal: startJournal(options), log, file, path, bytesMax };
}

test("a disk that takes no writes is not called well again by what touches no file", async () => {
  const { journal, log, file, bytesMax } = started(1024 ** 2);
  // Held in memory, and answered for only 2 s later.
  void journal.add({ kind: "settle", id: "a", text: "x".repeat(2 * bytesMax), at: 1 });
  await journal.turn();
  expect(journal.accepting()).toBe(false);
  await journal.add({ kind: "drop", through: 0 });
  await journal.add({ kind: "forget", id: "b" });
  expect(journal.accepting()).toBe(false);
  expect(log.lines.map(({ message }) => message)).toEqual(["the spool cannot be written"]);
  journal.stop();
  file.close();
});

test.if(HAS_HEADS)(
  "a file that takes no more stops calls although the head takes them, and what ends meanwhile waits there",
  async () => {
    const { journal, log, file } = started(64 * 1024);
    for (const id of ["a", "b"]) await journal.add({ kind: "settle", id, text: "x".repeat(40_000), at: 1 });
    await until(() => log.lines.length > 0);
    expect(journal.accepting()).toBe(false);
    expect(log.lines.map(({ message }) => message)).toEqual(["the spool cannot be written"]);
    await journal.add({ kind: "settle", id: "c", text: "end of c", at: 1 });
    expect([journal.held.backlog(), file.lastSeq()]).toEqual([0, 3]);
    journal.stop();
    file.close();
  },
);

test.if(HAS_HEADS)("a file that another holds for a moment is no fault: the head waits for it", async () => {
  const { journal, log, file, path } = started(1024 ** 2);
  const other = new Database(path, { readwrite: true });
  other.run("BEGIN IMMEDIATE");
  await journal.add({ kind: "settle", id: "a", text: "end of a", at: 1 });
  await Bun.sleep(100);
  expect([file.waiting(), journal.accepting(), log.lines.length]).toEqual(["little", true, 0]);
  other.close();
  await until(() => file.waiting() === "nothing");
  journal.stop();
  file.close();
});
