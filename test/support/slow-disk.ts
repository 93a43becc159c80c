import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "#gateway/recorder/entry.ts";
import { makeHeads } from "#gateway/recorder/heads.ts";
import { openOrphanFile } from "#gateway/recorder/orphan-file.ts";
import { openTurnLog } from "#gateway/recorder/turn-log.ts";
import { ownDirectory } from "./recorder-kit.ts";

/** So long that a few of them fill a head. */
const LINE = "x".repeat(60_000);
/** Entries whose texts are long. */
export const settle = (id: string): Entry => ({ kind: "settle", id, text: `end ${id} ${LINE}`, at: 5 });
export const intent = (id: string): Entry => ({ kind: "intent", id, text: `start ${id} ${LINE}` });

/** A log whose questions for the disk wait until they are answered. */
export function slowDisk() {
  const path = join(ownDirectory(), "spool.db");
  let asked: (() => void)[] = [];
  const log = openTurnLog({
    path,
    sync: "normal",
    bytesMax: 1024 ** 3,
    create: true,
    heads: makeHeads(path),
    synced: (then) => asked.push(then),
  });
  const answer = () => {
    const all = asked;
    asked = [];
    for (const then of all) then();
  };
  return { path, log, answer };
}

export const turnsIn = (path: string): number => {
  const db = new Database(path, { readonly: true });
  const { n } = db.query<{ n: number }, []>("SELECT count(*) AS n FROM turns").get() ?? { n: -1 };
  db.close();
  return n;
};

const FILES = [".db", ".db-wal", ".head"] as const;
export type Disk = Record<(typeof FILES)[number], Buffer>;

const stem = (path: string) => path.replace(/\.db$/, "");

export function diskOf(path: string): Disk {
  const read = (ending: string) => readFileSync(stem(path) + ending);
  return { ".db": read(".db"), ".db-wal": read(".db-wal"), ".head": read(".head") };
}

/** What whoever takes these files over finds, in order: "start a" for a call that never ended, "end a" for its end. */
export function foundOn(disk: Disk): string[] {
  const path = join(ownDirectory(), "spool.db");
  for (const ending of FILES) writeFileSync(stem(path) + ending, disk[ending]);
  const file = openOrphanFile({ path, sync: "normal", now: () => 9 });
  const texts = file.source.take(100_000).map(({ text }) => text.slice(0, text.lastIndexOf(" ")));
  file.close();
  return texts;
}
