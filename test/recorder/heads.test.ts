import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "#gateway/recorder/entry.ts";
import { headPathOf, makeHeads, turnsInHeads } from "#gateway/recorder/heads.ts";
import { openOrphanFile } from "#gateway/recorder/orphan-file.ts";
import { openTurnLog } from "#gateway/recorder/turn-log.ts";
import { HAS_HEADS, ownDirectory, removeOwnDirectories } from "#test/support/recorder-kit.ts";

afterAll(removeOwnDirectories);

const settle = (id: string): Entry => ({ kind: "settle", id, text: `end of ${id}`, at: 5 });
const intent = (id: string): Entry => ({ kind: "intent", id, text: `start of ${id}` });
const textsOf = (rows: readonly { text: string }[]) => rows.map(({ text }) => text);

function logWithHeads(bytesMax = 1024 ** 3, more: { synced?: (then: () => void) => void } = {}) {
  const path = join(ownDirectory(), "spool.db");
  const log = openTurnLog({ path, sync: "normal", bytesMax, create: true, heads: makeHeads(path), ...more });
  return { path, head: headPathOf(path), log };
}

/** What a process leaves that dies now. */
function died(path: string, kinds: readonly string[] = [".db", ".db-wal", ".head"]): string {
  const copy = join(ownDirectory(), "spool.db");
  const stem = (of: string) => of.replace(/\.db$/, "");
  for (const kind of kinds)
    if (existsSync(stem(path) + kind)) copyFileSync(stem(path) + kind, stem(copy) + kind);
  return copy;
}

const adopt = (path: string) => openOrphanFile({ path, sync: "normal", now: () => 9 });

async function rowsLeftIn(path: string): Promise<string[]> {
  const file = adopt(path);
  const texts = textsOf(file.source.take(10_000));
  await file.destroy();
  expect([existsSync(path), existsSync(headPathOf(path))]).toEqual([false, false]);
  return texts;
}

const bodiesIn = (path: string): string[] => {
  const db = new Database(path, { readonly: true });
  const rows = db.query<{ body: string }, []>("SELECT body FROM turns ORDER BY n").all();
  db.close();
  return rows.map(({ body }) => body);
};

describe.if(HAS_HEADS)("the heads of a spool file", () => {
  test("has all its blocks before anything is written to it, so that a full disk cannot end the process", () => {
    const { head, log } = logWithHeads();
    const { size, blocks } = statSync(head);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    log.close();
  });

  test("holds what was written the moment it is written, and the file holds it after a while, once", async () => {
    const { path, head, log } = logWithHeads();
    log.write([intent("a"), intent("ü€😀")]);
    log.write([settle("a")]);
    expect(readFileSync(head).toString()).toContain("end of a");
    expect(bodiesIn(path)).toEqual([]);
    expect(log.settledAfter(0, 9)).toEqual([{ seq: 1, text: "end of a" }]);
    expect([log.oldestAt(0), log.running(), log.waiting(), log.isEmpty()]).toEqual([5, 1, "little", false]);

    expect([log.drain(), log.drain(), log.waiting()]).toEqual([true, false, "nothing"]);
    // The call that ended needs its beginning no more.
    expect(bodiesIn(path)).toEqual(["+ü€😀 start of ü€😀\n=a end of a\n"]);
    expect(turnsInHeads(head)).toEqual([]);
    await log.destroy();
    expect(existsSync(head)).toBe(false);
  });

  test("leaves nothing to the file of calls that ended and that Postgres has", async () => {
    const { path, head, log } = logWithHeads();
    log.write([intent("a"), settle("a"), settle("b")]);
    log.write([{ kind: "drop", through: 2 }]);
    expect([log.isEmpty(), log.drain(), log.waiting()]).toEqual([true, false, "nothing"]);
    expect([bodiesIn(path), turnsInHeads(head)]).toEqual([[], []]);
    log.write([settle("c"), intent("d")]);
    log.write([settle("e"), settle("f")]);
    log.write([{ kind: "drop", through: 3 }]);
    expect([log.oldestAt(3), log.drain()]).toEqual([5, true]);
    expect(bodiesIn(path)).toEqual(["+d start of d\n=e end of e\n=f end of f\n"]);
    const copy = openOrphanFile({ path: died(path), sync: "normal", now: () => 9 });
    expect([copy.source.backlog(), textsOf(copy.source.take(2))]).toEqual([3, ["end of e", "end of f"]]);
    await copy.destroy();
    expect(log.settledAfter(3, 9)).toEqual([
      { seq: 4, text: "end of e" },
      { seq: 5, text: "end of f" },
    ]);
    await log.destroy();
  });

  test("is emptied into the file before what does not fit goes there, so the order stays", async () => {
    const { path, log } = logWithHeads();
    log.write([settle("a")]);
    expect(log.write([{ kind: "settle", id: "b", text: "x".repeat(600_000), at: 5 }])).toBe(true);
    expect(log.write([settle("c")])).toBe(false);
    const rows = log.settledAfter(0, 9).map(({ seq, text }) => [seq, text.length]);
    expect(rows).toEqual([
      [1, 8],
      [2, 600_000],
      [3, 8],
    ]);
    expect(bodiesIn(path).map((body) => body.length)).toEqual([12, 600_004]);
    await log.destroy();
  });

  test("keeps what a full file does not take, also what comes later, and nothing of it is lost", async () => {
    const { path, log } = logWithHeads(64 * 1024);
    const large = (id: string): Entry => ({ kind: "settle", id, text: `${id}${"x".repeat(50_000)}`, at: 1 });
    for (const id of ["a", "b", "c"]) log.write([large(id)]);
    expect(() => log.drain()).toThrow("full");
    log.write([settle("d")]);
    expect(() => log.write([{ kind: "probe" }])).toThrow("full");
    expect(log.settledAfter(0, 9)).toHaveLength(4);
    expect((await rowsLeftIn(died(path))).map((text) => text.slice(0, 8))).toEqual([
      "axxxxxxx",
      "bxxxxxxx",
      "cxxxxxxx",
      "end of d",
    ]);
    log.close();
    // Its process ends, and the file takes it no better: the head stays.
    expect(await rowsLeftIn(path)).toHaveLength(4);
  });

  test("gives its rows to Postgres while the file takes nothing, also those that memory has forgotten", async () => {
    const { path, log } = logWithHeads();
    log.write([settle("in the file")]);
    log.drain();
    const other = new Database(path, { readwrite: true });
    other.run("BEGIN IMMEDIATE");
    for (let n = 2; n <= 4500; n++) log.write([settle(`${n}`)]);
    for (const read of [0, 1, 400]) {
      const seqs = log.settledAfter(read, 500).map(({ seq }) => seq);
      expect([seqs.length, seqs[0], seqs.at(-1)]).toEqual([500, read + 1, read + 500]);
    }
    other.close();
    await log.destroy();
  });

  test("keep the beginning of a call in the file while its end is in a head alone, for a power cut", async () => {
    const { path, log } = logWithHeads();
    log.write([intent("a")]);
    log.drain();
    log.write([settle("a")]);
    log.sweep();
    expect(await rowsLeftIn(died(path, [".db", ".db-wal"]))).toEqual(["start of a"]);
    log.write([{ kind: "drop", through: 1 }]);
    log.sweep();
    expect(bodiesIn(path)).toEqual([]);
    await log.destroy();
  });

  test("does not keep a full file from being cut down to the calls that run", async () => {
    const { path, log } = logWithHeads(700 * 1024);
    let calls = 0;
    const pass = () => {
      calls += 1;
      const beside = { kind: "settle", id: `${calls}`, text: "x".repeat(4000), at: 1 } as const;
      log.write([intent(`long-${calls}`), beside]);
    };
    expect(() => {
      for (;;) {
        pass();
        if (calls % 4 === 0) log.drain();
      }
    }).toThrow("full");
    for (let n = 0; n < 25; n++) pass();
    log.write([{ kind: "drop", through: log.lastSeq() }]);
    for (let tick = 0; tick < 3; tick++) log.sweep();
    log.drain();
    expect(log.usedBytes()).toBeLessThan(300 * 1024);
    expect((await rowsLeftIn(died(path))).length).toBe(calls);
    await log.destroy();
  });

  test("gives every row once and in order while calls, batches and sweeps go on, as the file alone does", async () => {
    const { log } = logWithHeads();
    let read = 0;
    for (let n = 1; n <= 3000; n++) {
      log.write([intent(`${n}`), ...(n > 7 ? [settle(`${n - 7}`)] : [])]);
      if (n % 13 === 0) log.drain();
      if (n % 31 === 0) log.sweep();
      if (n % 500 !== 0) continue;
      const rows = log.settledAfter(read, 450);
      expect(rows).toEqual(rows.map((_, at) => ({ seq: read + at + 1, text: `end of ${read + at + 1}` })));
      expect(rows.length).toBeGreaterThan(400);
      read += rows.length;
      log.write([{ kind: "drop", through: read }]);
    }
    expect([log.lastSeq(), log.running()]).toEqual([2993, 7]);
    // None of them was read, and the newest are in the head only.
    for (let n = 0; n < 9000; n++) log.write([settle(`late-${n}`)]);
    let rest = 0;
    for (let rows = log.settledAfter(read, 500); rows.length > 0; rows = log.settledAfter(read, 500)) {
      expect(rows[0]?.seq).toBe(read + 1);
      read += rows.length;
      rest += rows.length;
    }
    expect(rest).toBe(11_993 - (read - rest));
    await log.destroy();
  });
});

describe.if(HAS_HEADS)("the heads of a process that died", () => {
  test("is taken over with the file, its turn after those of the file", async () => {
    const { path, log } = logWithHeads();
    log.write([intent("a"), intent("b")]);
    log.drain();
    log.write([settle("a"), intent("c")]);
    expect(await rowsLeftIn(died(path))).toEqual(["end of a", "start of b", "start of c"]);
    log.close();
  });

  test("is read once more when its turn is in the file, whole or not, but not when it was emptied", async () => {
    const { path, head, log } = logWithHeads();
    log.write([settle("a"), settle("b")]);
    const before = readFileSync(head);
    log.drain();
    const killedBetween = died(path, [".db", ".db-wal"]);
    writeFileSync(headPathOf(killedBetween), before);
    // What Postgres is given twice it stores once.
    expect(await rowsLeftIn(killedBetween)).toEqual(["end of a", "end of b", "end of a", "end of b"]);
    log.write([settle("c")]);
    expect(turnsInHeads(head).map(({ body }) => body)).toEqual(["=c end of c\n"]);
    expect(await rowsLeftIn(died(path))).toEqual(["end of a", "end of b", "end of c"]);
    log.close();
  });

  test("gives what its turn has more of than the file, whose failed commit came back", async () => {
    const { head, log } = logWithHeads();
    log.write([intent("a"), intent("b")]);
    const { log: other, path: less } = logWithHeads();
    other.write([intent("a"), intent("b")]);
    other.drain();
    const copy = died(less, [".db", ".db-wal"]);
    log.write([settle("b")]);
    copyFileSync(head, headPathOf(copy));
    expect(await rowsLeftIn(copy)).toEqual(["end of b", "start of a"]);
    log.close();
    other.close();
  });

  test("is read up to what was not written whole", () => {
    const path = join(ownDirectory(), "spool.db");
    const made = makeHeads(path);
    for (const id of ["a", "b", "c"]) made.parts[0]?.add(7, 5, `=${id} end\n`);
    const bytes = readFileSync(headPathOf(path));
    const third = bytes.indexOf("=c end");
    for (let at = third - 20; at < third + 7; at++) {
      const torn = Buffer.from(bytes);
      torn[at] = (torn[at] ?? 0) ^ 1;
      writeFileSync(headPathOf(path), torn);
      expect(turnsInHeads(headPathOf(path))).toEqual([{ n: 7, at: 5, body: "=a end\n=b end\n" }]);
    }
    for (const length of [0, 10, 24, 30]) {
      writeFileSync(headPathOf(path), bytes.subarray(0, length));
      expect(turnsInHeads(headPathOf(path))).toEqual([]);
    }
    made.remove();
    expect(turnsInHeads(headPathOf(path))).toEqual([]);
  });

  test("is taken over without its file, and a file without its head", async () => {
    const { path, log } = logWithHeads();
    log.write([intent("a"), settle("b")]);
    expect(await rowsLeftIn(died(path, [".head"]))).toEqual(["end of b", "start of a"]);
    log.drain();
    expect(await rowsLeftIn(died(path, [".db", ".db-wal"]))).toEqual(["end of b", "start of a"]);
    log.close();
  });

  test("goes when Postgres has its rows, and not before", () => {
    const { path, log } = logWithHeads();
    log.write([settle("a"), intent("c")]);
    const copy = died(path);
    const first = adopt(copy);
    first.source.drop(first.source.take(1));
    first.close();
    const second = adopt(copy);
    const rows = second.source.take(9);
    expect(textsOf(rows)).toEqual(["end of a", "start of c"]);
    second.source.drop(rows);
    second.close();
    expect(existsSync(headPathOf(copy))).toBe(false);
    const third = adopt(copy);
    expect(third.source.backlog()).toBe(0);
    third.close();
    rmSync(copy);
    log.close();
  });
});
