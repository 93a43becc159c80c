import type { RE2JS } from "re2js";

/** What is put behind a cut: no `$` must hold there, neither of the text nor of a line, and no `.*` lead up to it. */
const TAILS_OF_A_CUT = ["\0", "\n\0"] as const;

/**
 * Whether a pattern is in a text from `from` to `to`, with the characters before and behind them to be seen but not found: a cut is neither the
 * beginning nor the end of anything, so `^`, `$` and `\b` must not hold there. Dearer than a search: for what a search has found.
 */
export function matchesInPiece(
  pattern: RE2JS,
  text: string,
  { from, to }: { from: number; to: number },
): boolean {
  const before = Math.min(from, 1);
  const seen = text.slice(from - before, to + 1);
  const tails = to < text.length ? TAILS_OF_A_CUT : [""];
  return tails.every((tail) => pattern.matcher(seen + tail).find(before));
}
