import { rmSync } from "node:fs";
import { turnsInHeads } from "./heads.ts";
import type { SpoolFile } from "./spool-file.ts";
import { settledIn } from "./turn-lines.ts";

/** Entries of a spool file that lie in one row, as lines (turn-lines.ts). */
export type StoredEntries = { n: number; at: number; body: string };

/** A table of a dead process's file, or its heads. */
export type Shelf = {
  /** The first row with a number over `n`. */
  after(n: number): StoredEntries | null;
  body(n: number): string;
  /** Inside a transaction. */
  remove(n: number): void;
  /** Settled rows in it, by the numbers at its ends: counting would read the whole file. */
  rows(): number;
};

/** A table's name, and what in it stands for the columns of turns. `before`: how many rows had been settled before. */
type Table = { name: string; n: string; at: string; before: string; body: string };

/**
 * What the tables of a spool file may be, in the order in which they are read. Earlier versions kept the intents of
 * running calls and settled rows in tables of their own; both are read as if each row were a turn.
 */
const TABLES: readonly Table[] = [
  { name: "intents", n: "n", at: "0", before: "0", body: "'+' || id || ' ' || body || char(10)" },
  { name: "settled", n: "seq", at: "at", before: "seq", body: "'=- ' || body || char(10)" },
  { name: "turns", n: "n", at: "at", before: "before", body: "body" },
];

/**
 * All that the file and the heads before it hold. The heads come last: what is in them was to follow in the file. A process
 * that died before it emptied a head left its turn in both, or less of it in the file: what is read twice is stored once.
 */
export function shelvesOf(file: SpoolFile, headPath: string): Shelf[] {
  const { db, keep } = file;
  const tables = keep(
    db.prepare<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'"),
  );
  const names = new Set(tables.all().map(({ name }) => name));
  const tablesOf = TABLES.filter(({ name }) => names.has(name)).map((table) => shelfOf(file, table));
  const inHeads = turnsInHeads(headPath);
  return inHeads.length > 0 ? [...tablesOf, headShelf(inHeads, headPath)] : tablesOf;
}

/** The file goes with the last of its turns: until then whoever takes it over next reads all of them once more. */
function headShelf(turns: readonly StoredEntries[], path: string): Shelf {
  const left = new Set(turns.map(({ n }) => n));
  return {
    after: (number) => turns.find(({ n }) => n > number) ?? null,
    body: (number) => turns.find(({ n }) => n === number)?.body ?? "",
    remove: (number) => {
      left.delete(number);
      if (left.size === 0) rmSync(path, { force: true });
    },
    rows: () => turns.reduce((sum, { body }) => sum + settledIn(body).length, 0),
  };
}

function shelfOf({ db, keep }: SpoolFile, { name, n, at, body, before }: Table): Shelf {
  const columns = `${n} AS n, ${at} AS at, ${body} AS body`;
  const following = keep(
    db.prepare<StoredEntries, [number]>(
      `SELECT ${columns} FROM ${name} WHERE ${n} > ? ORDER BY ${n} LIMIT 1`,
    ),
  );
  const one = keep(db.prepare<StoredEntries, [number]>(`SELECT ${columns} FROM ${name} WHERE ${n} = ?`));
  const removal = keep(db.prepare(`DELETE FROM ${name} WHERE ${n} = ?`));
  const end = (order: "ASC" | "DESC") =>
    keep(
      db.prepare<{ before: number; body: string }, []>(
        `SELECT ${before} AS before, ${body} AS body FROM ${name} ORDER BY ${n} ${order} LIMIT 1`,
      ),
    ).get();
  return {
    after: (number) => following.get(number),
    body: (number) => one.get(number)?.body ?? "",
    remove: (number) => void removal.run(number),
    rows: () => {
      const last = end("DESC");
      return last ? last.before - (end("ASC")?.before ?? 0) + settledIn(last.body).length : 0;
    },
  };
}
