/**
 * The later of two reports of one thing: the one with the greater key, whose first member is the time. GitHub's times
 * are whole seconds, so the other members decide between reports of one second, whatever their order of arrival.
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

/** The smaller of two texts; null counts as missing. */
export const earliest = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b < a) ? b : a;
