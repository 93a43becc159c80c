import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Entry, openSpoolFile } from "#gateway/recorder/spool-file.ts";
import { takeLock } from "#gateway/recorder/spool-lock.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

const openAt = (path: string, create = true) =>
  openSpoolFile({ path, sync: "normal", bytesMax: 1024 ** 3, create });

const settle = (id: string): Entry => ({ kind: "settle", id, text: `end of ${id}`, at: 5 });
const intent = (id: string): Entry => ({ kind: "intent", id, text: `start of ${id}` });

describe("a spool file", () => {
  test("holds, after any calls and a reopening, one row per settled call in order and one per call not settled", () => {
    const step = fc.record({
      id: fc.integer({ min: 0, max: 30 }).map((n) => `call-${n.toString().padStart(2, "0")}`),
      opened: fc.boolean(),
      settled: fc.boolean(),
    });
    const calls = fc.uniqueArray(step, { selector: ({ id }) => id, maxLength: 30 });
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 5 }), (steps, perTurn) => {
        const path = join(ownDirectory(), "spool.db");
        const file = openAt(path);
        const entries = [
          ...steps.filter(({ opened }) => opened).map(({ id }) => intent(id)),
          ...steps.filter(({ settled }) => settled).map(({ id }) => settle(id)),
        ];
        for (let at = 0; at < entries.length; at += perTurn) file.write(entries.slice(at, at + perTurn));
        file.close();

        const again = openAt(path, false);
        again.settleIntents(9);
        const settledIds = steps.filter(({ settled }) => settled).map(({ id }) => `end of ${id}`);
        const openIds = steps.filter(({ opened, settled }) => opened && !settled).map(({ id }) => id);
        expect(again.settledAfter(0, 100).map(({ text }) => text)).toEqual([
          ...settledIds,
          ...openIds.sort().map((id) => `start of ${id}`),
        ]);
        again.destroy();
        expect(existsSync(path)).toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  test("takes all of a turn or nothing, and gives the numbers of a failed turn out again", () => {
    const file = openAt(join(ownDirectory(), "spool.db"));
    const broken = { ...settle("b"), text: null } as unknown as Entry;
    expect(() => file.write([settle("a"), intent("c"), broken])).toThrow();
    expect([file.count("settled"), file.count("intents"), file.lastSeq()]).toEqual([0, 0, 0]);
    file.write([settle("a")]);
    expect(file.lastSeq()).toBe(1);
    file.destroy();
  });

  test("never gives a number twice, also when all rows before have gone", () => {
    const file = openAt(join(ownDirectory(), "spool.db"));
    file.write([settle("a"), settle("b")]);
    file.write([{ kind: "drop", through: 2 }]);
    file.write([settle("c")]);
    expect(file.settledAfter(2, 10)).toEqual([{ seq: 3, text: "end of c" }]);
    expect(file.oldestAt(2)).toBe(5);
    file.destroy();
  });

  test("does not grow over its cap: the write fails and what was there stays", () => {
    const file = openSpoolFile({
      path: join(ownDirectory(), "spool.db"),
      sync: "normal",
      bytesMax: 128 * 1024,
      create: true,
    });
    const large = (id: string): Entry => ({ kind: "settle", id, text: "x".repeat(10_000), at: 1 });
    let written = 0;
    expect(() => {
      for (; ; written++) file.write([large(String(written))]);
    }).toThrow("full");
    expect(file.count("settled")).toBe(written);
    file.write([{ kind: "drop", through: written - 1 }]);
    file.write([large("again")]);
    expect(file.count("settled")).toBe(2);
    file.destroy();
  });
});

describe("a spool's lock", () => {
  test("is held against other holders of the same process until it is released", () => {
    const path = join(ownDirectory(), "spool.lock");
    const lock = takeLock(path);
    expect(takeLock(path)).toBeNull();
    lock?.release();
    const next = takeLock(path);
    expect(next).not.toBeNull();
    next?.release();
  });

  test("is held against other processes, also after this process has looked at the file once more", () => {
    const path = join(ownDirectory(), "spool.lock");
    const lock = takeLock(path);
    takeLock(path)?.release();
    const module = join(import.meta.dir, "../../gateway/recorder/spool-lock.ts");
    const script = `const { takeLock } = await import(${JSON.stringify(module)}); process.exit(takeLock(${JSON.stringify(path)}) ? 1 : 0)`;
    expect(Bun.spawnSync([process.execPath, "-e", script]).exitCode).toBe(0);
    lock?.release();
    expect(Bun.spawnSync([process.execPath, "-e", script]).exitCode).toBe(1);
  });
});
