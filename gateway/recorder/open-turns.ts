import { type Draft, draftOf, type Entry } from "./entry.ts";
import { headPool, type Synced } from "./head-pool.ts";
import type { Head } from "./heads.ts";
import type { runningCalls } from "./running-calls.ts";
import type { SettledRow } from "./spool-file.ts";
import type { turnWriter } from "./turn-store.ts";
import { isDone, type Turn, type TurnBook } from "./turn-sweep.ts";

/** What the heads hold: nothing, little, or so much that some of it is to be stored at once. */
export type Waiting = "nothing" | "little" | "enough";

/** Which turns are stored: all, what makes room in the heads, or those that were there the last time that was asked. */
export type Drained = "all" | "room" | "old";

/** Where turns go: into one that grows in a head, which becomes a row of the spool file if it is needed for long, or past it. */
export type OpenTurns = {
  /** The turn that took the draft: the open one, or, where no head has room, one in the file. Throws SQLite's error. */
  place(draft: Draft): Turn;
  /** Stores what is still needed of turns; true when the file took something. Throws SQLite's error: the heads keep the rest. */
  drain(which: Drained): boolean;
  /** Empties the heads that nobody needs any more. */
  reclaim(): void;
  /** The turns in the heads, oldest first. */
  now(): readonly Turn[];
  /** The first rows in the heads with a number over `after`. */
  settledAfter(after: number, rowsMax: number): SettledRow[];
  waiting(): Waiting;
};

type Parts = {
  heads: readonly Head[];
  synced: Synced;
  book: TurnBook;
  running: ReturnType<typeof runningCalls>;
  store: ReturnType<typeof turnWriter>;
};

const nextTurn = ({ turnNumber, lastSeq }: TurnBook): Turn => ({
  n: turnNumber + 1,
  at: 0,
  lastSeq,
  running: 0,
  endsSeq: 0,
  size: 0,
  isCut: false,
});

/** A head in use. `before`: how many rows had been settled before its turn; `isOld`: it was there at the last look. */
type Used = { head: Head; turn: Turn; before: number; entries: Entry[]; isOld: boolean };

export function openTurns(parts: Parts): OpenTurns {
  const { book, store } = parts;
  const pool = headPool(parts.heads, parts.synced);
  const storeNeeded = storerOfNeeded(parts);
  let used: Used[] = [];

  function reclaim(): void {
    const done = used.filter(({ turn }) => isDone(turn, book.dropped));
    if (done.length === 0) return;
    used = used.filter((one) => !done.includes(one));
    for (const { head } of done) pool.giveBack(head);
  }

  const isDue = (which: Drained, { isOld }: Used) =>
    which === "all" || (which === "room" ? pool.isShort() : isOld);

  function drain(which: Drained): boolean {
    reclaim();
    let stored = false;
    for (let one = used[0]; one && isDue(which, one); one = used[0]) {
      stored = storeNeeded(one) || stored;
      used = used.slice(1);
      pool.giveBackSynced(one.head);
    }
    if (which === "old") for (const one of used) one.isOld = true;
    return stored;
  }

  function take(draft: Draft): Turn | null {
    const last = used.at(-1);
    // Of an older one the rows would have numbers between those of others.
    if (last?.turn.n === book.turnNumber && append(book, last, draft)) return last.turn;
    reclaim();
    const head = pool.take();
    if (!head) return null;
    const next = { head, turn: nextTurn(book), before: book.lastSeq, entries: [], isOld: false };
    if (append(book, next, draft)) {
      used.push(next);
      return next.turn;
    }
    pool.giveBack(head);
    return null;
  }

  function waiting(): Waiting {
    if (pool.isShort()) reclaim();
    if (used.length === 0) return "nothing";
    return pool.isShort() ? "enough" : "little";
  }

  return {
    place: (draft) => {
      const taken = draft.body && draft.parked.length === 0 ? take(draft) : null;
      if (taken) return taken;
      // Past the heads, which come before in the file.
      if (draft.isTurn) drain("all");
      return storeNow(book, store, draft);
    },
    drain,
    reclaim,
    now: () => used.map(({ turn }) => turn),
    settledAfter: (after, rowsMax) => settledIn(used, after, rowsMax),
    waiting,
  };
}

function add(book: TurnBook, turn: Turn, draft: Draft): void {
  turn.at ||= draft.at;
  turn.size += draft.body.length;
  turn.lastSeq += draft.settled;
  book.turnNumber = turn.n;
  book.lastSeq = turn.lastSeq;
}

/** False, and nothing is changed, where the head has no room. */
function append(book: TurnBook, { head, turn, entries }: Used, draft: Draft): boolean {
  if (!head.add(turn.n, draft.at, draft.body)) return false;
  entries.push(...draft.entries);
  add(book, turn, draft);
  return true;
}

function storeNow(book: TurnBook, store: Parts["store"], draft: Draft): Turn {
  const turn = nextTurn(book);
  store(turn.n, book.lastSeq, draft);
  if (draft.isTurn) {
    add(book, turn, draft);
    book.turns.push(turn);
  }
  return turn;
}

/** Stores what is still needed of a head; true when the file took something. */
function storerOfNeeded({ book, running, store }: Parts): (used: Used) => boolean {
  return ({ turn, before, entries }) => {
    const isOpen = (id: string) => running.isAt(id, turn);
    const draft = draftOf(needed(entries, book.dropped - before, isOpen));
    if (!draft.isTurn) return false;
    store(turn.n, Math.max(before, book.dropped), draft);
    book.turns.push(Object.assign(turn, { at: draft.at, size: draft.body.length }));
    return true;
  };
}

function settledIn(used: readonly Used[], after: number, rowsMax: number): SettledRow[] {
  const rows: SettledRow[] = [];
  for (const { turn, before, entries } of used) {
    if (turn.lastSeq <= after || rows.length >= rowsMax) continue;
    const texts = entries.flatMap((entry) => (entry.kind === "settle" ? [entry.text] : []));
    const all = texts.map((text, index) => ({ seq: before + index + 1, text }));
    rows.push(...all.filter(({ seq }) => seq > after));
  }
  return rows.slice(0, rowsMax);
}

/** Without beginnings of calls that have ended since, which are most, and the first `dropped` ends: Postgres has them. */
function needed(entries: readonly Entry[], dropped: number, isOpen: (id: string) => boolean): Entry[] {
  let settled = 0;
  return entries.filter((entry) => {
    if (entry.kind === "intent") return isOpen(entry.id);
    if (entry.kind !== "settle") return false;
    settled += 1;
    return settled > dropped;
  });
}
