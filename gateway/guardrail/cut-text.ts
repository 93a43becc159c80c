import type { RE2JS } from "re2js";

/** Appended at a cut: `$` must not match there, neither as end of text nor of line, and `.*` must not reach it. */
const TAILS_OF_A_CUT = ["\0", "\n\0"] as const;

/**
 * Whether a pattern matches within `from` to `to` of a text, with one character of context on each side: a cut is not
 * the start or end of anything, so `^`, `$` and `\b` must not match there. Slower than a plain search, so it only
 * confirms a match that one has found.
 */
export function matchesInPiece(
  pattern: RE2JS,
  text: string,
  { from, to }: { from: number; to: number },
): boolean {
  const before = Math.min(from, 1);
  const context = text.slice(from - before, to + 1);
  const tails = to < text.length ? TAILS_OF_A_CUT : [""];
  return tails.every((tail) => pattern.matcher(context + tail).find(before));
}
