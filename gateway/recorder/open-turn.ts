import { type Draft, draftOf, type Entry } from "./entry.ts";
import type { Head } from "./head.ts";
import type { runningCalls } from "./running-calls.ts";
import type { SettledRow } from "./spool-file.ts";
import type { turnWriter } from "./turn-store.ts";
import type { Turn, TurnBook } from "./turn-sweep.ts";

/** What the head holds: nothing, little, or enough to be stored at once. */
export type Waiting = "nothing" | "little" | "enough";

/** Where turns go: into one that grows in the head until it becomes a row of the spool file, or past it. */
export type OpenTurn = {
  /** The turn that took the draft: the open one, or, where the head has no room, one in the file. Throws SQLite's error. */
  place(draft: Draft): Turn;
  /**
   * Stores what is still needed of the head, and empties it; true when the file took something. Throws SQLite's error,
   * and then the head keeps all.
   */
  drain(): boolean;
  /** The turn in the head. */
  now(): Turn | null;
  /** The first rows in the head with a number over `after`. */
  settledAfter(after: number, rowsMax: number): SettledRow[];
  waiting(): Waiting;
};

/** What stands before a file that has no head: it takes nothing. */
export const NO_HEAD: Head = { add: () => false, clear: () => {}, remove: () => {} };

/** A commit must not hold up the event loop: of so many characters about half are stored, in a fifth of a millisecond. */
const LARGE = 96 * 1024;

type Parts = {
  head: Head;
  book: TurnBook;
  running: ReturnType<typeof runningCalls>;
  store: ReturnType<typeof turnWriter>;
};

const nextTurn = ({ turnNumber, lastSeq }: TurnBook): Turn => ({
  n: turnNumber + 1,
  at: 0,
  lastSeq,
  running: 0,
  size: 0,
  isCut: false,
});

export function openTurn({ head, book, running, store }: Parts): OpenTurn {
  let open: Turn | null = null;
  let before = 0;
  let entries: Entry[] = [];

  function add(turn: Turn, draft: Draft): void {
    turn.at ||= draft.at;
    turn.size += draft.body.length;
    turn.lastSeq += draft.settled;
    book.turnNumber = turn.n;
    book.lastSeq = turn.lastSeq;
  }

  function drain(): boolean {
    if (!open) return false;
    const turn = open;
    const isOpen = (id: string) => running.isAt(id, turn);
    const draft = draftOf(needed(entries, book.dropped - before, isOpen));
    if (draft.isTurn) {
      store(turn.n, Math.max(before, book.dropped), draft);
      book.turns.push(Object.assign(turn, { at: draft.at, size: draft.body.length }));
    }
    head.clear();
    open = null;
    entries = [];
    return draft.isTurn;
  }

  function take(draft: Draft): Turn | null {
    const turn = open ?? nextTurn(book);
    if (!head.add(turn.n, draft.at, draft.body)) return null;
    if (!open) before = book.lastSeq;
    open = turn;
    entries.push(...draft.entries);
    add(turn, draft);
    return turn;
  }

  /** Past the head, which comes before in the file. */
  function storeNow(draft: Draft): Turn {
    if (draft.isTurn) drain();
    const turn = nextTurn(book);
    store(turn.n, book.lastSeq, draft);
    if (draft.isTurn) {
      add(turn, draft);
      book.turns.push(turn);
    }
    return turn;
  }

  function waiting(): Waiting {
    if (!open) return "nothing";
    return open.size > LARGE ? "enough" : "little";
  }

  function settledAfter(after: number, rowsMax: number): SettledRow[] {
    const texts = entries.flatMap((entry) => (entry.kind === "settle" ? [entry.text] : []));
    const rows = texts.map((text, index) => ({ seq: before + index + 1, text }));
    return rows.filter(({ seq }) => seq > after).slice(0, rowsMax);
  }

  return {
    place: (draft) => (draft.body && draft.parked.length === 0 ? take(draft) : null) ?? storeNow(draft),
    drain,
    now: () => open,
    settledAfter,
    waiting,
  };
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
