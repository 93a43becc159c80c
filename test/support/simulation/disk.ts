import type { Mark } from "#gateway/recorder/mark-file.ts";
import type { ParkedRow, Segment, Settlement } from "#gateway/recorder/segment.ts";

/** The process dies at this write. */
export class Killed extends Error {}

/** A segment's file and mark, which outlive the process that writes them. */
export type DiskFile = {
  segment: Segment;
  writeMark(mark: Mark): void;
  mark(): Mark | null;
  /** The process dies after so many more writes; a transaction that is cut has no effect. */
  dieAfter(writes: number): void;
  /** The next process takes over. */
  reopen(): void;
};

/** Does in memory what SQLite does on a disk that survives a process: whole transactions, in order. */
export function diskFile(): DiskFile {
  let intents = new Map<number, string>();
  let settlements = new Map<number, { text: string; at: number }>();
  let parked: ParkedRow[] = [];
  let mark: Mark | null = null;
  let writesLeft = Number.POSITIVE_INFINITY;

  const write = (): void => {
    writesLeft -= 1;
    if (writesLeft < 0) throw new Killed();
  };
  const after = (rows: Map<number, string>, seq: number, rowsMax: number): Settlement[] =>
    [...rows]
      .filter(([n]) => n > seq)
      .sort(([a], [b]) => a - b)
      .slice(0, rowsMax)
      .map(([n, text]) => ({ seq: n, text }));
  const removeThrough = (rows: Map<number, unknown>, through: number): void => {
    write();
    for (const n of [...rows.keys()]) if (n <= through) rows.delete(n);
  };

  const segment: Segment = {
    transaction(work) {
      const before = [new Map(intents), new Map(settlements), [...parked]] as const;
      try {
        work();
        write();
      } catch (error) {
        [intents, settlements, parked] = [before[0], before[1], [...before[2]]];
        throw error;
      }
    },
    addIntent: (seq, text) => {
      write();
      intents.set(seq, text);
    },
    addSettlement: ({ seq, text }, at) => {
      write();
      settlements.set(seq, { text, at });
    },
    park: (row) => {
      write();
      parked.push(row);
    },
    removeIntent: (seq) => {
      write();
      intents.delete(seq);
    },
    removeIntents: (through) => removeThrough(intents, through),
    removeSettlements: (through) => removeThrough(settlements, through),
    intentsAfter: (seq, rowsMax) => after(intents, seq, rowsMax),
    settlementsAfter: (seq, rowsMax) =>
      after(new Map([...settlements].map(([n, { text }]) => [n, text])), seq, rowsMax),
    settledAtAfter: (seq) => settlements.get(seq + 1)?.at ?? null,
    settlementRange: () =>
      settlements.size === 0
        ? { first: 0, last: 0 }
        : { first: Math.min(...settlements.keys()), last: Math.max(...settlements.keys()) },
    intentCount: () => intents.size,
    parkedRows: () => parked,
    parkedCount: () => parked.length,
    usedBytes: () => 0,
    close: () => undefined,
    destroy: async () => undefined,
  };
  return {
    segment,
    writeMark(next) {
      write();
      mark = next;
    },
    mark: () => mark,
    dieAfter: (writes) => {
      writesLeft = writes;
    },
    reopen: () => {
      writesLeft = Number.POSITIVE_INFINITY;
    },
  };
}
