import type { Draft } from "./entry.ts";
import type { Head } from "./head.ts";
import type { turnWriter } from "./turn-store.ts";
import type { Turn, TurnBook } from "./turn-sweep.ts";

/** What the head holds: nothing, little, or enough to be stored at once. */
export type Waiting = "nothing" | "little" | "enough";

/** Where turns go: into one that grows in the head until it becomes a row of the spool file, or past it. */
export type OpenTurn = {
  /** The turn that took the draft: the open one, or, where the head has no room, one in the file. Throws SQLite's error. */
  place(draft: Draft): Turn;
  /** Stores what the head holds; true when there was something. Throws SQLite's error, and then the head keeps it. */
  drain(): boolean;
  /** The turn in the head. */
  now(): Turn | null;
  waiting(): Waiting;
};

/** What stands before a file that has no head: it takes nothing. */
export const NO_HEAD: Head = { add: () => false, clear: () => {}, remove: () => {} };

/** A commit must not hold up the event loop: so many characters take a fifth of a millisecond. */
const LARGE = 48 * 1024;

export function openTurn(head: Head, book: TurnBook, store: ReturnType<typeof turnWriter>): OpenTurn {
  let open: Turn | null = null;
  let before = 0;
  let body = "";

  const begin = (): Turn => ({
    n: book.turnNumber + 1,
    at: 0,
    lastSeq: book.lastSeq,
    running: 0,
    size: 0,
    carried: false,
  });

  function add(turn: Turn, draft: Draft): void {
    turn.at ||= draft.at;
    turn.size += draft.body.length;
    turn.lastSeq += draft.settled;
    book.turnNumber = turn.n;
    book.lastSeq = turn.lastSeq;
  }

  function drain(): boolean {
    if (!open) return false;
    store(open.n, before, { body, settled: open.lastSeq - before, at: open.at, parked: [], isTurn: true });
    head.clear();
    book.turns.push(open);
    open = null;
    body = "";
    return true;
  }

  function take(draft: Draft): Turn | null {
    const turn = open ?? begin();
    if (!head.add(turn.n, draft.at, draft.body)) return null;
    if (!open) before = book.lastSeq;
    open = turn;
    body += draft.body;
    add(turn, draft);
    return turn;
  }

  /** Past the head, which comes before in the file. */
  function storeNow(draft: Draft): Turn {
    if (draft.isTurn) drain();
    const turn = begin();
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

  return {
    place: (draft) => (draft.body && draft.parked.length === 0 ? take(draft) : null) ?? storeNow(draft),
    drain,
    now: () => open,
    waiting,
  };
}
