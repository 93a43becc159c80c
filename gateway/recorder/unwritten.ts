import type { Entry } from "./own-segment.ts";
import type { Source } from "./postgres-writer.ts";

/** An entry and its callback for when it is written. Calling `done` twice is harmless. */
export type Waiting = { entry: Entry; done: () => void; failed: (error: Error) => void };

/** Longest time that a client waits for the end of its answer while the disk fails. */
const HELD_MS = 2000;

const nobody = { done: () => {}, failed: () => {} };

/**
 * Entries that the disk refused, in memory. `onSent` gets the id of each call whose settlement went from here to
 * Postgres. If the process dies, such a call is not lost: its intent is on disk and is stored as interrupted.
 */
export function createUnwritten(onSent: (id: string) => void) {
  const held = new Map<number, Waiting>();
  let lastSeq = 0;

  function hold(waiting: Waiting): void {
    lastSeq += 1;
    held.set(lastSeq, waiting);
    setTimeout(waiting.done, HELD_MS).unref();
  }

  const settlements = () =>
    [...held].flatMap(([seq, { entry }]) => (entry.kind === "settlement" ? [{ seq, entry }] : []));

  function release(seq: number): void {
    const waiting = held.get(seq);
    if (!waiting) return;
    held.delete(seq);
    waiting.done();
    if (waiting.entry.kind === "settlement") onSent(waiting.entry.id);
  }

  const source: Source = {
    take: (rowsMax) =>
      settlements()
        .slice(0, rowsMax)
        .map(({ seq, entry }) => ({ seq, text: entry.text })),
    drop: (rows) => {
      for (const { seq } of rows) release(seq);
    },
    park: ({ seq, text }, code) => {
      const waiting = held.get(seq);
      const at = waiting?.entry.kind === "settlement" ? waiting.entry.at : 0;
      hold({ entry: { kind: "park", text, code, at }, ...nobody });
    },
    mark: () => {
      const now = settlements().map(({ seq }) => seq);
      return () => !now.some((seq) => held.has(seq));
    },
    oldestAt: () => settlements()[0]?.entry.at ?? null,
    backlog: () => settlements().length,
  };

  return {
    /** The settlements among the entries: Postgres may take them before the disk does. */
    source,
    hold,
    /** Tries to write all entries; `write` returns null when it did. */
    retry(write: (waiting: readonly Waiting[]) => unknown): void {
      const all = [...held];
      if (all.length === 0 || write(all.map(([, waiting]) => waiting)) !== null) return;
      for (const [seq] of all) held.delete(seq);
    },
    count: () => held.size,
  };
}
