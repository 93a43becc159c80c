/** Calls remembered at once; each is a few short texts. */
const REMEMBERED_MAX = 20_000;

/**
 * Which call an agent asks permission for: it does so without the call's id, right after it told of the call. Kept in
 * memory; where it is not known, the denial is a row of its own.
 */
export function rememberedTurns(max = REMEMBERED_MAX) {
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
