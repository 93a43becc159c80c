import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Entry } from "#gateway/recorder/entry.ts";
import { openOrphanFile } from "#gateway/recorder/orphan-file.ts";
import { takeLock } from "#gateway/recorder/spool-lock.ts";
import { openTurnLog } from "#gateway/recorder/turn-log.ts";
import { ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

const openAt = (path: string, bytesMax = 1024 ** 3) =>
  openTurnLog({ path, sync: "normal", bytesMax, create: true });

const adopt = (path: string) => openOrphanFile({ path, sync: "normal", now: () => 9 });

const settle = (id: string): Entry => ({ kind: "settle", id, text: `end of ${id}`, at: 5 });
const intent = (id: string): Entry => ({ kind: "intent", id, text: `start of ${id}` });
const textsOf = (rows: readonly { text: string }[]) => rows.map(({ text }) => text);

describe("a turn log", () => {
  test("gives, after any calls, batches and drops, every settled row once and in order to its own process", () => {
    const turn = fc.array(fc.constantFrom("open", "settle", "refuse", "forget"), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 200 }), fc.integer({ min: 1, max: 9 }), (turns, rowsMax) => {
        const log = openAt(join(ownDirectory(), "spool.db"));
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
          if (step === "forget") return [{ kind: "forget", id }];
          settled.push(`end of ${id}`);
          return [settle(id)];
        };
        let cursor = 0;
        for (const steps of turns) {
          log.write(steps.flatMap(entryOf));
          const rows = log.settledAfter(cursor, rowsMax);
          read.push(...textsOf(rows));
          cursor = rows.at(-1)?.seq ?? cursor;
          log.write([{ kind: "drop", through: cursor }]);
          if (calls % 3 === 0) log.sweep();
        }
        read.push(...textsOf(log.settledAfter(cursor, 1000)));
        expect(read).toEqual(settled);
        expect([log.lastSeq(), log.running()]).toEqual([settled.length, open.length]);
        log.write([{ kind: "drop", through: settled.length }]);
        expect(log.isEmpty()).toBe(open.length === 0);
        log.close();
      }),
      { numRuns: 40 },
    );
  });

  test("goes on where it was read to, from the file and from memory alike", async () => {
    const log = openAt(join(ownDirectory(), "spool.db"));
    for (let n = 0; n < 1500; n++)
      log.write([intent(`open-${n}`), ...[1, 2, 3].map((part) => settle(`${n * 3 + part}`))]);
    expect(textsOf(log.settledAfter(0, 3))).toEqual(["end of 1", "end of 2", "end of 3"]);
    let cursor = 0;
    while (cursor < 4500) {
      const rows = log.settledAfter(cursor, 400);
      expect(rows).toEqual(
        Array.from({ length: Math.min(400, 4500 - cursor) }, (_, n) => ({
          seq: cursor + n + 1,
          text: `end of ${cursor + n + 1}`,
        })),
      );
      cursor += rows.length;
    }
    await log.destroy();
  });

  test("takes all of a turn or nothing, and gives the numbers of a failed turn out again", async () => {
    const log = openAt(join(ownDirectory(), "spool.db"), 64 * 1024);
    const broken: Entry = { kind: "settle", id: "b", text: "x".repeat(100_000), at: 5 };
    expect(() => log.write([settle("a"), intent("c"), broken])).toThrow("full");
    expect([log.settledAfter(0, 10), log.running(), log.lastSeq()]).toEqual([[], 0, 0]);
    log.write([settle("a")]);
    expect(log.settledAfter(0, 10)).toEqual([{ seq: 1, text: "end of a" }]);
    await log.destroy();
  });

  test("never gives a number twice, also when all rows before have gone", async () => {
    const log = openAt(join(ownDirectory(), "spool.db"));
    log.write([settle("a"), settle("b")]);
    log.write([{ kind: "drop", through: 2 }]);
    log.sweep();
    log.write([settle("c")]);
    expect(log.settledAfter(2, 10)).toEqual([{ seq: 3, text: "end of c" }]);
    expect(log.oldestAt(2)).toBe(5);
    await log.destroy();
  });

  test("does not grow over its cap: the write fails, what was there stays, and what is dropped makes room", async () => {
    const log = openAt(join(ownDirectory(), "spool.db"), 128 * 1024);
    const large = (id: string): Entry => ({ kind: "settle", id, text: "x".repeat(10_000), at: 1 });
    let written = 0;
    expect(() => {
      for (; ; written++) log.write([large(String(written))]);
    }).toThrow("full");
    expect(log.settledAfter(0, 100).length).toBe(written);
    log.write([{ kind: "drop", through: written - 1 }]);
    log.sweep();
    log.write([large("again")]);
    expect(log.settledAfter(written - 1, 100).map(({ seq }) => seq)).toEqual([written, written + 1]);
    await log.destroy();
  });

  test("keeps a turn for as long as one of its calls runs, and no longer", async () => {
    const log = openAt(join(ownDirectory(), "spool.db"));
    const empty = log.usedBytes();
    const large = { kind: "settle", id: "short", text: "x".repeat(10_000), at: 5 } as const;
    log.write([intent("long"), large]);
    log.write([{ kind: "drop", through: 1 }]);
    log.sweep();
    expect(log.usedBytes()).toBeGreaterThan(empty);
    log.write([{ kind: "forget", id: "long" }]);
    log.sweep();
    expect(log.usedBytes()).toBe(empty);
    expect(log.isEmpty()).toBe(true);
    await log.destroy();
  });
});

test("long calls do not keep what passed beside them, and are found in the file all the same", () => {
  const path = join(ownDirectory(), "spool.db");
  const log = openAt(path, 512 * 1024);
  for (let n = 1; n <= 200; n++) {
    log.write([intent(`long-${n}`), { kind: "settle", id: `short-${n}`, text: "x".repeat(9000), at: 5 }]);
    log.write([{ kind: "drop", through: n }]);
    log.sweep();
  }
  log.write([settle("long-1"), { kind: "forget", id: "long-2" }]);
  expect(log.usedBytes()).toBeLessThan(300 * 1024);
  expect([log.running(), textsOf(log.settledAfter(200, 9))]).toEqual([198, ["end of long-1"]]);
  log.close();
  const file = adopt(path);
  const starts = textsOf(file.source.take(999)).filter((text) => text.startsWith("start"));
  expect(starts).not.toContain("start of long-1");
  expect(new Set(starts).size).toBeGreaterThanOrEqual(198);
  expect(starts).toContain("start of long-200");
  file.close();
});

describe("the file of a process that died", () => {
  test("holds one row per settled call in order and then one per call not settled", () => {
    const step = fc.record({
      id: fc.integer({ min: 0, max: 30 }).map((n) => `call-${n.toString().padStart(2, "0")}`),
      opened: fc.boolean(),
      settled: fc.boolean(),
    });
    const calls = fc.uniqueArray(step, { selector: ({ id }) => id, maxLength: 30 });
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 5 }), (steps, perTurn) => {
        const path = join(ownDirectory(), "spool.db");
        const log = openAt(path);
        const entries = [
          ...steps.filter(({ opened }) => opened).map(({ id }) => intent(id)),
          ...steps.filter(({ settled }) => settled).map(({ id }) => settle(id)),
        ];
        for (let at = 0; at < entries.length; at += perTurn) log.write(entries.slice(at, at + perTurn));
        log.close();

        const file = adopt(path);
        const settledIds = steps.filter(({ settled }) => settled).map(({ id }) => `end of ${id}`);
        const openIds = steps.filter(({ opened, settled }) => opened && !settled).map(({ id }) => id);
        expect(textsOf(file.source.take(100))).toEqual([
          ...settledIds,
          ...openIds.map((id) => `start of ${id}`),
        ]);
        file.close();
      }),
      { numRuns: 25 },
    );
  });

  test("is read to its end batch by batch, also by whoever takes it over next, with nothing lost between", async () => {
    const path = join(ownDirectory(), "spool.db");
    const log = openAt(path);
    for (let n = 1; n <= 1000; n++) log.write([intent(`open-${n}`), settle(`${n}`), settle(`open-${n - 1}`)]);
    log.close();

    const first = adopt(path);
    const some = first.source.take(300);
    first.source.drop(some);
    first.close();
    const second = adopt(path);
    const rest: { text: string }[] = [];
    for (;;) {
      const rows = second.source.take(300);
      if (rows.length === 0) break;
      second.source.drop(rows);
      rest.push(...rows);
    }
    const texts = textsOf([...some, ...rest]);
    expect(texts.length).toBe(2001);
    expect(new Set(texts).size).toBe(2001);
    expect(texts.at(-1)).toBe("start of open-1000");
    expect(second.source.backlog()).toBe(0);
    await second.destroy();
    expect(existsSync(path)).toBe(false);
  });

  test("that is full to its cap is read to its end", async () => {
    const path = join(ownDirectory(), "spool.db");
    const log = openAt(path, 128 * 1024);
    let written = 0;
    expect(() => {
      for (; ; written++) log.write([{ kind: "settle", id: `${written}`, text: "x".repeat(900), at: 1 }]);
    }).toThrow("full");
    log.close();
    const file = adopt(path);
    let read = 0;
    for (let rows = file.source.take(9); rows.length > 0; rows = file.source.take(9)) {
      file.source.drop(rows);
      read += rows.length;
    }
    expect([read, file.source.backlog()]).toEqual([written, 0]);
    await file.destroy();
  });

  test("says, before it is read, how many rows are left in it", async () => {
    const path = join(ownDirectory(), "spool.db");
    const log = openAt(path);
    for (let n = 0; n < 1000; n++) log.write([settle(`${n}-a`), settle(`${n}-b`), settle(`${n}-c`)]);
    log.write([{ kind: "drop", through: 600 }]);
    log.sweep();
    log.close();
    const { source, destroy } = adopt(path);
    expect(source.backlog()).toBe(2400);
    source.drop(source.take(500));
    expect([source.backlog(), source.oldestAt()]).toEqual([1900, 5]);
    expect([source.take(9999).length, source.backlog()]).toEqual([1900, 1900]);
    await destroy();
  });

  test("of a version that kept intents and rows in tables is taken over, too", async () => {
    const path = join(ownDirectory(), "spool.db");
    const old = new Database(path, { create: true });
    old.run("CREATE TABLE intents (n INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL)");
    old.run("CREATE TABLE settled (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)");
    old.run("INSERT INTO intents (id, body) VALUES ('b', 'start of b')");
    old.run("INSERT INTO settled (seq, at, body) VALUES (7, 5, 'end of a')");
    old.close();
    const file = adopt(path);
    expect(file.source.backlog()).toBe(2);
    expect(textsOf(file.source.take(10))).toEqual(["end of a", "start of b"]);
    await file.destroy();
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

  test("is held against other processes, also after this process has looked at the file once more", async () => {
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
