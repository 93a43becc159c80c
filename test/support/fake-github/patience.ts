/** What GitHub would hold against a caller. */
type Patience = {
  /** Calls that arrived while the caller had been asked to wait. */
  late: { caller: string; operation: string }[];
  /** Most calls of one caller at once. */
  atOnce: number;
  /** When each write of a caller arrived, in milliseconds. */
  writes: Map<string, number[]>;
};

/** Watches whether callers heed what they are asked. */
export function createPatience(now: () => Date) {
  const until = new Map<string, number>();
  const running = new Map<string, number>();
  const seen: Patience = { late: [], atOnce: 0, writes: new Map() };
  return {
    seen,
    begin: (caller: string, operation: string, isWrite: boolean) => {
      const at = now().getTime();
      if (at < (until.get(caller) ?? 0)) seen.late.push({ caller, operation });
      const count = (running.get(caller) ?? 0) + 1;
      running.set(caller, count);
      seen.atOnce = Math.max(seen.atOnce, count);
      if (isWrite) seen.writes.set(caller, [...(seen.writes.get(caller) ?? []), performance.now()]);
    },
    end: (caller: string) => running.set(caller, (running.get(caller) ?? 1) - 1),
    /** From now on, a call of this caller is late for so long. */
    askToWait: (caller: string, ms: number) => until.set(caller, now().getTime() + ms),
  };
}
