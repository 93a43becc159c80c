/** A long-lived Map retains removed entries until a full garbage collection: it is replaced after this many calls. */
const RENEWED_EVERY = 512;

/** The calls under way, with the numbers of their intents; null: the intent is in an earlier segment. */
export type RunningCalls = ReturnType<typeof runningCalls>;

export function runningCalls(earlier: readonly string[]) {
  let seqs = new Map<string, number | null>(earlier.map((id) => [id, null]));
  let inFile = 0;
  let ended = 0;

  /** Returns the number of the call's intent, if it had one here. */
  function end(id: string): number | undefined {
    const seq = seqs.get(id);
    if (!seqs.delete(id)) return undefined;
    ended += 1;
    if (ended % RENEWED_EVERY === 0) seqs = new Map(seqs);
    if (seq === null || seq === undefined) return undefined;
    inFile -= 1;
    return seq;
  }

  return {
    /** Again, for a call whose intent was in an earlier segment. Keeps the Map in the order of numbers. */
    begin(id: string, seq: number): void {
      end(id);
      seqs.set(id, seq);
      inFile += 1;
    },
    end,
    seqOf: (id: string) => seqs.get(id) ?? undefined,
    has: (id: string) => seqs.has(id),
    ids: () => [...seqs.keys()],
    count: () => seqs.size,
    /** Intents in the present segment, and the number of the first; 0 if there is none. */
    inFile: () => inFile,
    first(): number {
      for (const seq of seqs.values()) if (seq !== null) return seq;
      return 0;
    },
  };
}
