import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { headPathOf, turnsInHeads } from "#gateway/recorder/heads.ts";
import { HAS_HEADS, ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { diskOf, foundOn, intent, settle, slowDisk, turnsIn } from "#test/support/slow-disk.ts";

afterAll(removeOwnDirectories);

describe.if(HAS_HEADS)("several heads", () => {
  test("never give to the file what Postgres takes in time, however much that is", async () => {
    const { path, log } = slowDisk();
    for (let n = 1; n <= 400; n++) {
      log.write([intent(`${n}`)]);
      log.write([settle(`${n}`)]);
      if (n > 8) log.write([{ kind: "drop", through: n - 8 }]);
      expect(log.waiting()).toBe("little");
      if (n % 10 === 0) log.sweep();
    }
    expect([turnsIn(path), log.settledAfter(392, 99).length]).toEqual([0, 8]);
    log.write([{ kind: "drop", through: 400 }]);
    log.sweep();
    expect([log.waiting(), turnsInHeads(headPathOf(path)), log.isEmpty()]).toEqual(["nothing", [], true]);
    await log.destroy();
  });

  test("are not written over before what they held is on the disk", async () => {
    const { path, log, answer } = slowDisk();
    log.write([intent("a"), settle("b")]);
    expect(log.drain()).toBe(true);
    log.write([settle("c")]);
    const inHeads = () => turnsInHeads(headPathOf(path)).map(({ n }) => n);
    expect([inHeads(), turnsIn(path)]).toEqual([[1, 2], 1]);
    answer();
    expect(inHeads()).toEqual([2]);
    await log.destroy();
  });

  test("keep the beginnings of calls until their ends, which lie in another alone, are on the disk", async () => {
    const { path, log, answer } = slowDisk();
    for (const id of ["a", "b", "c"]) log.write([intent(id)]);
    log.drain("old");
    log.write([settle("a"), settle("b"), settle("c")]);
    // Nothing of the first is needed any more but by who finds the second as it was.
    expect([log.drain("old"), turnsIn(path)]).toEqual([false, 0]);
    const inHeads = () => turnsInHeads(headPathOf(path)).map(({ n }) => n);
    expect(inHeads()).toEqual([1, 2]);
    answer();
    expect(inHeads()).toEqual([2]);
    await log.destroy();
  });

  test("ask for room while some are free, and while the disk keeps silent the file takes all in order", async () => {
    const { path, log, answer } = slowDisk();
    let calls = 0;
    const pass = () => {
      calls += 1;
      log.write([intent(`${calls}`), settle(`${calls}`)]);
    };
    while (log.waiting() !== "enough") pass();
    expect(turnsIn(path)).toBe(0);
    expect(log.drain("room")).toBe(true);
    expect([turnsIn(path), log.waiting()]).toEqual([1, "little"]);
    for (let n = 0; n < 20; n++) pass();
    expect(turnsIn(path)).toBeGreaterThan(15);
    const seqs: number[] = [];
    for (let rows = log.settledAfter(0, 7); rows.length > 0; rows = log.settledAfter(seqs.at(-1) ?? 0, 7))
      seqs.push(...rows.map(({ seq }) => seq));
    expect(seqs).toEqual(Array.from({ length: calls }, (_, index) => index + 1));
    expect(new Set(foundOn(diskOf(path))).size).toBe(calls);
    answer();
    const stored = turnsIn(path);
    pass();
    expect(turnsIn(path)).toBe(stored);
    await log.destroy();
  });

  test("give to the file what has been waiting since the last look, and not what came since", async () => {
    const { path, log } = slowDisk();
    log.write([intent("long")]);
    expect([log.drain("old"), turnsIn(path)]).toEqual([false, 0]);
    expect([log.drain("old"), turnsIn(path), log.waiting()]).toEqual([true, 1, "nothing"]);
    expect(log.running()).toBe(1);
    log.write([settle("long")]);
    log.write([{ kind: "drop", through: 1 }]);
    log.sweep();
    expect([turnsIn(path), log.isEmpty()]).toEqual([0, true]);
    await log.destroy();
  });

  test("give no number twice when the newest of them is free again before an older one with room left", async () => {
    const { path, log } = slowDisk();
    for (const id of ["long", "b", "c"]) log.write([intent(id)]);
    log.write([settle("b"), settle("c")]);
    log.write([{ kind: "drop", through: 2 }]);
    log.sweep();
    expect(turnsInHeads(headPathOf(path)).map(({ n }) => n)).toEqual([1]);
    log.write([{ kind: "settle", id: "d", text: "end d x", at: 5 }]);
    expect([log.settledAfter(2, 9).map(({ seq }) => seq), log.lastSeq()]).toEqual([[3], 3]);
    expect(foundOn(diskOf(path))).toEqual(["end d", "start long", "start b", "start c"]);
    await log.destroy();
  });

  test("are read to the end of their turn, not on into what is left of an earlier one", async () => {
    const { path, log } = slowDisk();
    for (const id of ["a", "b"]) log.write([settle(id)]);
    log.write([{ kind: "drop", through: 2 }]);
    log.sweep();
    // As long as the first, so that what was the second follows it.
    log.write([settle("c")]);
    expect(foundOn(diskOf(path))).toEqual(["end c"]);
    await log.destroy();
  });

  test("of a version that had one are read as that one", () => {
    const path = join(ownDirectory(), "spool.head");
    const lines = `=a ${"x".repeat(400_000)}\n`;
    const bytes = Buffer.alloc(512 * 1024);
    bytes.write(lines, 24);
    bytes.writeDoubleLE(3, 8);
    bytes.writeDoubleLE(5, 16);
    bytes.writeUInt32LE(Bun.hash.crc32(bytes.subarray(8, 24 + lines.length)), 4);
    bytes.writeUInt32LE(lines.length, 0);
    writeFileSync(path, bytes);
    expect(turnsInHeads(path)).toEqual([{ n: 3, at: 5, body: lines }]);
  });
});
