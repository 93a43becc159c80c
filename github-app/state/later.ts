/**
 * What two accounts of one thing come down to, whichever came first: `later` by time; at equal times the greater by
 * `key`, so that the choice never depends on the order of arrival. Deliveries arrive in any order and more than once,
 * and GitHub's times are whole seconds.
 */
export function later<T>(a: T, b: T, keyOf: (it: T) => readonly (string | number | boolean)[]): T {
  return compareKeys(keyOf(a), keyOf(b)) >= 0 ? a : b;
}

/** Member by member: text by code unit, `false` before `true`. */
export function compareKeys(
  a: readonly (string | number | boolean)[],
  b: readonly (string | number | boolean)[],
): number {
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right !== undefined && left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** The smaller of two texts; null is no account at all. */
export const earliest = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b < a) ? b : a;
