import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { createOwnSegment, type Entry, type OwnSegment } from "#gateway/recorder/own-segment.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";
import { foundIfKilled, intent, newSegment, settlement, textsOf } from "#test/support/segments.ts";

afterAll(removeOwnDirectories);

/** Marks the oldest `count` pending rows as stored in Postgres. */
const send = ({ pending }: OwnSegment, count: number) => pending.drop(pending.take(count));

describe("the own segment", () => {
  test("returns, after any calls, batches and sweeps, every settlement once and in order", () => {
    const turn = fc.array(fc.constantFrom("open", "settle", "refuse", "forget"), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 200 }), fc.integer({ min: 1, max: 9 }), (turns, rowsMax) => {
        const segment = newSegment();
        const open: string[] = [];
        const settled: string[] = [];
        const read: string[] = [];
        let calls = 0;
        const entryOf = (step: string): Entry[] => {
          if (step === "open") {
            calls += 1;
            open.push(`call-${calls}`);
            return [intent(`call-${calls}`)];
          }
          const id = step === "refuse" ? `refused-${settled.length}` : open.shift();
          if (id === undefined) return [];
          settled.push(`end of ${id}`);
          return [settlement(id)];
        };
        for (const steps of turns) {
          segment.write(steps.filter((step) => step !== "forget").flatMap(entryOf));
          const forgotten = steps.includes("forget") ? open.shift() : undefined;
          if (forgotten !== undefined) segment.forget(forgotten);
          const rows = segment.pending.take(rowsMax);
          read.push(...textsOf(rows));
          segment.pending.drop(rows);
          if (calls % 3 === 0) segment.sweep();
        }
        const rest = segment.pending.take(1000);
        read.push(...textsOf(rest));
        expect(read).toEqual(settled);
        expect(segment.running()).toBe(open.length);
        segment.pending.drop(rest);
        segment.sweep();
        expect(foundIfKilled(segment)).toEqual(open.map((id) => `start of ${id}`));
        void segment.leave();
      }),
      { numRuns: 40 },
    );
  });

  test("commits all entries of a turn or none, and uses the numbers of a failed turn again", async () => {
    const segment = newSegment(64 * 1024);
    const tooLarge = settlement("b", "x".repeat(100_000));
    expect(() => segment.write([settlement("a"), intent("c"), tooLarge])).toThrow("full");
    expect([segment.pending.take(10), segment.running(), segment.pending.backlog()]).toEqual([[], 0, 0]);
    segment.write([settlement("a")]);
    expect(segment.pending.take(10)).toEqual([{ seq: 1, text: "end of a" }]);
    await segment.leave();
  });

  test("never uses a number twice, even when all earlier rows are gone", async () => {
    const segment = newSegment();
    segment.write([settlement("a"), settlement("b")]);
    send(segment, 2);
    segment.sweep();
    segment.write([settlement("c")]);
    expect(segment.pending.take(10)).toEqual([{ seq: 3, text: "end of c" }]);
    expect([segment.pending.oldestAt(), segment.pending.backlog()]).toEqual([5, 1]);
    await segment.leave();
  });

  test("does not grow over its cap: the write fails, earlier rows stay, and deleted rows make room", async () => {
    const segment = newSegment(128 * 1024);
    const large = (id: string) => settlement(id, "x".repeat(10_000));
    let written = 0;
    expect(() => {
      for (; ; written++) segment.write([large(String(written))]);
    }).toThrow("full");
    expect(segment.pending.take(100).length).toBe(written);
    send(segment, written - 1);
    segment.sweep();
    segment.write([large("again")]);
    expect(segment.pending.take(100).map(({ seq }) => seq)).toEqual([written, written + 1]);
    await segment.leave();
  });

  test("keeps the intent of a call until the call is settled, and nothing of it after Postgres has it", async () => {
    const segment = newSegment();
    const empty = segment.usedBytes();
    segment.write([intent("long"), intent("lost")]);
    for (let n = 0; n < 200; n++) segment.write([intent(`${n}`), settlement(`${n}`, "x".repeat(9000))]);
    send(segment, 1000);
    segment.sweep();
    expect(foundIfKilled(segment)).toEqual(["start of long", "start of lost"]);
    expect(segment.usedBytes()).toBeLessThan(empty + 32 * 1024);
    segment.write([settlement("long")]);
    segment.forget("lost");
    send(segment, 1);
    segment.sweep();
    expect(segment.usedBytes()).toBeLessThan(empty + 8 * 1024);
    expect(foundIfKilled(segment)).toEqual([]);
    await segment.leave();
  });

  test("fails a probe when it is full, and otherwise changes nothing by it", async () => {
    const segment = newSegment(64 * 1024);
    segment.write([{ kind: "probe" }]);
    expect(foundIfKilled(segment)).toEqual([]);
    expect(() => {
      for (let n = 0; ; n++) segment.write([intent(`${n}`), { kind: "probe" }]);
    }).toThrow("full");
    expect(() => segment.write([{ kind: "probe" }, settlement("a", "x".repeat(100_000))])).toThrow("full");
    await segment.leave();
  });

  test("is deleted on leaving when it holds nothing, and stays otherwise", async () => {
    const segment = newSegment();
    const directory = dirname(segment.path);
    segment.write([intent("a"), settlement("a")]);
    send(segment, 1);
    await segment.leave();
    expect(readdirSync(directory)).toEqual([]);
    const kept = createOwnSegment({ directory, sync: "full", bytesMax: 1024 ** 3 });
    kept.write([{ kind: "park", text: "{}", code: "22003", at: 5 }]);
    await kept.leave();
    expect(readdirSync(directory).filter((name) => name.endsWith(".db"))).toHaveLength(1);
  });
});

test("a segment that cannot be made leaves nothing behind, or every start on a full disk would leave more", () => {
  const directory = ownDirectory();
  expect(() => createOwnSegment({ directory, sync: "normal", bytesMax: 2048 })).toThrow(
    `The spool in ${directory} cannot be written`,
  );
  expect(readdirSync(directory)).toEqual([]);
});
