import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { silentDamage } from "#gateway/recorder/recovery/examine.ts";
import { removeOwnDirectories } from "#test/support/recorder-kit.ts";
import {
  adopt,
  diskOf,
  foundIfKilled,
  intent,
  newSegment,
  restored,
  settlement,
  textsOf,
} from "#test/support/segments.ts";

afterAll(removeOwnDirectories);

describe("the segment of a process that died", () => {
  test("holds one row per settled call in order, and then one per call not settled", () => {
    const step = fc.record({
      id: fc.integer({ min: 0, max: 30 }).map((n) => `call-${n.toString().padStart(2, "0")}`),
      opened: fc.boolean(),
      settled: fc.boolean(),
    });
    const calls = fc.uniqueArray(step, { selector: ({ id }) => id, maxLength: 30 });
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 5 }), (steps, perTurn) => {
        const segment = newSegment();
        const entries = [
          ...steps.filter(({ opened }) => opened).map(({ id }) => intent(id)),
          ...steps.filter(({ settled }) => settled).map(({ id }) => settlement(id)),
        ];
        for (let at = 0; at < entries.length; at += perTurn) segment.write(entries.slice(at, at + perTurn));
        const settledIds = steps.filter(({ settled }) => settled).map(({ id }) => `end of ${id}`);
        const openIds = steps.filter(({ opened, settled }) => opened && !settled).map(({ id }) => id);
        expect(foundIfKilled(segment)).toEqual([...settledIds, ...openIds.map((id) => `start of ${id}`)]);
        void segment.leave();
      }),
      { numRuns: 25 },
    );
  });

  test("is read to its end batch by batch, also by the next to adopt it, with nothing lost between", async () => {
    const segment = newSegment();
    for (let n = 1; n <= 1000; n++)
      segment.write([intent(`open-${n}`), settlement(`${n}`), settlement(`open-${n - 1}`)]);
    segment.write(Array.from({ length: 600 }, (_, n) => intent(`left-${n}`)));
    const path = restored(diskOf(segment.path));
    await segment.leave();

    const read: string[] = [];
    for (const batches of [2, 5, 1, 99]) {
      const { source, close, destroy } = adopt(path);
      expect(source.backlog()).toBe(2601 - read.length);
      for (let batch = 0; batch < batches && source.backlog() > 0; batch++) {
        const rows = source.take(300);
        source.drop(rows);
        read.push(...textsOf(rows));
      }
      if (source.backlog() > 0) close();
      else await destroy();
    }
    expect([read.length, new Set(read).size]).toEqual([2601, 2601]);
    expect(read.at(-601)).toBe("start of open-1000");
    expect(existsSync(path)).toBe(false);
  });

  test("that is full to its cap is read to its end", async () => {
    const segment = newSegment(128 * 1024);
    let written = 0;
    expect(() => {
      for (; ; written++) segment.write([settlement(`${written}`, "x".repeat(900))]);
    }).toThrow("full");
    const { source, destroy } = adopt(restored(diskOf(segment.path)));
    let read = 0;
    for (let rows = source.take(9); rows.length > 0; rows = source.take(9)) {
      source.drop(rows);
      read += rows.length;
    }
    expect([read, source.backlog()]).toEqual([written, 0]);
    await destroy();
    await segment.leave();
  });

  test("tells, before it is read, how many rows are left and how old they are", async () => {
    const segment = newSegment();
    for (let n = 0; n < 1000; n++)
      segment.write([settlement(`${n}-a`), intent(`${n}`), settlement(`${n}-b`), settlement(`${n}-c`)]);
    segment.pending.drop(segment.pending.take(600));
    segment.sweep();
    const { source, destroy } = adopt(restored(diskOf(segment.path)));
    const isReached = source.mark();
    expect([source.backlog(), source.oldestAt()]).toEqual([3400, 5]);
    source.drop(source.take(500));
    expect([source.backlog(), source.oldestAt()]).toEqual([2900, 5]);
    expect([source.take(9999).length, source.backlog()]).toEqual([2900, 2900]);
    source.drop(source.take(1900));
    expect([source.backlog(), source.oldestAt(), isReached()]).toEqual([1000, 9, false]);
    source.drop(source.take(1000));
    expect([source.backlog(), source.oldestAt(), isReached()]).toEqual([0, null, true]);
    await destroy();
    await segment.leave();
  });

  test("killed amid a commit, and written over by the next process, is not taken for damaged", async () => {
    const segment = newSegment();
    segment.write([settlement("a"), settlement("b")]);
    segment.write(Array.from({ length: 40 }, (_, n) => settlement(`cut-${n}`, "x".repeat(1500))));
    const disk = diskOf(segment.path);
    await segment.leave();
    // Without its last frame, the one that commits.
    const path = restored({ ...disk, "-wal": disk["-wal"].subarray(0, -(24 + 2048)) });
    const { source, close } = adopt(path);
    expect(textsOf(source.take(9))).toEqual(["end of a", "end of b"]);
    source.drop(source.take(1));
    const next = restored(diskOf(path));
    close();
    expect(silentDamage(next)).toBeNull();
    const again = adopt(next);
    expect(textsOf(again.source.take(9))).toEqual(["end of b"]);
    again.close();
  });
});
