import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startJournal } from "#gateway/recorder/journal.ts";
import { openTurnLog } from "#gateway/recorder/turn-log.ts";
import { systemClock } from "#shared/clock.ts";
import { keptLog } from "#test/support/embedded.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

test("a disk that takes no writes is not called well again by what touches no file", async () => {
  const directory = ownDirectory();
  const bytesMax = 1024 ** 2;
  const file = openTurnLog({ path: join(directory, "spool.db"), sync: "normal", bytesMax, create: true });
  const log = keptLog();
  const journal = startJournal({
    file,
    directory,
    bytesMax,
    log,
    clock: systemClock,
    onSettled: () => undefined,
  });
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
