import type { Entry } from "./entry.ts";
import type { Source } from "./source.ts";

/** An entry and whom to tell once it is written. Telling twice does no harm. */
export type Waiting = { entry: Entry; done: () => void; failed: (error: Error) => void };

export type Held = {
  /** Rows among the held entries: they may go to Postgres without ever reaching the file. */
  source: Source;
  hold(waiting: Waiting): void;
  /** Tries to write all that is held; `attempt` returns null when it wrote. */
  retry(attempt: (waiting: readonly Waiting[]) => unknown): void;
  size(): number;
};

/** Longest that a client waits for the end of its answer while the disk fails. */
const HELD_MS = 2000;

type Settle = Extract<Entry, { kind: "settle" }>;
type Kept = { ticket: number; waiting: Waiting };

const nobody = { done: () => {}, failed: () => {} };

/**
 * Entries that the disk did not take, in memory. A held row whose process dies is not lost altogether: its intent
 * was on disk before the call was sent, and is stored as interrupted.
 */
export function createHeld(): Held {
  let kept: Kept[] = [];
  let tickets = 0;

  function hold(waiting: Waiting): void {
    tickets += 1;
    kept.push({ ticket: tickets, waiting });
    setTimeout(waiting.done, HELD_MS).unref();
  }

  const rows = (): { seq: number; entry: Settle }[] =>
    kept.flatMap(({ ticket, waiting: { entry } }) =>
      entry.kind === "settle" ? [{ seq: ticket, entry }] : [],
    );

  const source: Source = {
    take: (rowsMax) =>
      rows()
        .slice(0, rowsMax)
        .map(({ seq, entry }) => ({ seq, text: entry.text })),
    drop: (dropped) => {
      const tickets = new Set(dropped.map((row) => row.seq));
      const gone = kept.filter(({ ticket }) => tickets.has(ticket));
      kept = kept.filter(({ ticket }) => !tickets.has(ticket));
      for (const { waiting } of gone) {
        waiting.done();
        if (waiting.entry.kind === "settle") {
          hold({ entry: { kind: "forget", id: waiting.entry.id }, ...nobody });
        }
      }
    },
    park: (row, code) => {
      const at = rows().find(({ seq }) => seq === row.seq)?.entry.at ?? 0;
      hold({ entry: { kind: "park", text: row.text, code, at }, ...nobody });
    },
    mark: () => {
      const now = new Set(rows().map(({ seq }) => seq));
      return () => !rows().some(({ seq }) => now.has(seq));
    },
    oldestAt: () => rows()[0]?.entry.at ?? null,
    backlog: () => rows().length,
  };

  return {
    source,
    hold,
    retry: (attempt) => {
      // What the file may forget goes first: it makes room for the rest.
      for (const drops of [true, false]) {
        const some = kept.filter(({ waiting }) => (waiting.entry.kind === "drop") === drops);
        if (some.length === 0 || attempt(some.map(({ waiting }) => waiting)) !== null) continue;
        const written = new Set(some);
        kept = kept.filter((one) => !written.has(one));
      }
    },
    size: () => kept.length,
  };
}
