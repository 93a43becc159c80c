/** Entries kept; each is a few short strings. */
const CALLS_MAX = 20_000;

/**
 * Ids of recent calls by turn, in memory: an agent requests permission without the call's id, right after announcing
 * the call. Without an entry, a denial becomes a row of its own.
 */
export function recentCalls(max = CALLS_MAX) {
  const calls = new Map<string, string>();
  return {
    remember(turn: readonly (string | null)[], id: string): void {
      calls.set(JSON.stringify(turn), id);
      if (calls.size <= max) return;
      const oldest = calls.keys().next();
      if (!oldest.done) calls.delete(oldest.value);
    },
    recall: (turn: readonly (string | null)[]): string | null => calls.get(JSON.stringify(turn)) ?? null,
  };
}
