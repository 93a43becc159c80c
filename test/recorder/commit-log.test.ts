import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { startCommitLog } from "#gateway/recorder/commit-log.ts";
import { createOwnSegment } from "#gateway/recorder/own-segment.ts";
import { systemClock } from "#shared/clock.ts";
import { keptLog } from "#test/support/embedded.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { foundIfKilled, intent, settlement } from "#test/support/segments.ts";
import { until } from "#test/support/until.ts";

afterAll(removeOwnDirectories);

function started(bytesMax: number) {
  const directory = ownDirectory();
  const segment = createOwnSegment({ directory, sync: "normal", bytesMax });
  const log = keptLog();
  const settled: number[] = [];
  const onSettled = (rows: number) => void settled.push(rows);
  const options = { segment, directory, bytesMax, log, clock: systemClock, onSettled };
  return { commits: startCommitLog(options), log, segment, bytesMax, settled };
}

test("the entries of one turn of the event loop are committed together, and are on disk when they resolve", async () => {
  const { commits, segment, settled } = started(1024 ** 2);
  const ids = ["a", "b", "c"];
  await Promise.all(ids.map((id) => commits.append(intent(id))));
  expect(foundIfKilled(segment)).toEqual(ids.map((id) => `start of ${id}`));
  await Promise.all([commits.append(settlement("b")), commits.append(settlement("a"))]);
  expect(foundIfKilled(segment)).toEqual(["end of b", "end of a", "start of c"]);
  expect(settled).toEqual([2]);
  commits.stop();
  await segment.leave();
});

test("while the disk refuses writes calls are refused, and what ended waits in memory until it takes them again", async () => {
  const { commits, log, segment, bytesMax } = started(1024 ** 2);
  await commits.append(intent("running"));
  const held = commits.append(settlement("a", "x".repeat(2 * bytesMax)));
  const refused = commits.append(intent("b"));
  await expect(refused).rejects.toMatchObject({ type: "cannot_record" });
  expect([commits.accepting(), commits.unwritten.backlog()]).toEqual([false, 1]);
  expect(log.lines.map(({ message }) => message)).toEqual(["the spool cannot be written"]);
  // Answered after 2 s, although it is nowhere but in memory.
  await held;

  // Postgres takes it; then a probe finds the disk well.
  commits.unwritten.drop(commits.unwritten.take(9));
  await until(commits.accepting);
  expect(log.lines.at(-1)?.message).toBe("the spool takes records again");
  expect(foundIfKilled(segment)).toEqual(["start of running"]);
  commits.stop();
  await segment.leave();
});

test("a segment that another connection locks for a moment is no fault: the commit waits for it", async () => {
  const { commits, log, segment } = started(1024 ** 2);
  const other = new Database(segment.path, { readwrite: true });
  other.run("BEGIN IMMEDIATE");
  let written = false;
  const appended = commits.append(settlement("a")).then(() => {
    written = true;
  });
  await Bun.sleep(100);
  expect([written, commits.accepting(), log.lines.length]).toEqual([false, true, 0]);
  other.close();
  await appended;
  await commits.appended();
  expect(foundIfKilled(segment)).toEqual(["end of a"]);
  commits.stop();
  await segment.leave();
});

test("calls are refused while the segment cannot be synced to the disk", async () => {
  const { commits, segment } = started(1024 ** 2);
  commits.syncFailing(true);
  expect(commits.accepting()).toBe(false);
  commits.syncFailing(false);
  expect(commits.accepting()).toBe(true);
  commits.stop();
  await segment.leave();
});
