import { RE2JS } from "re2js";
import type { TextSearch } from "../directory.ts";
import { matchesInPiece } from "./cut-text.ts";

/** Instructions of a compiled pattern: what one character of a hostile text costs grows with them. */
const INSTRUCTIONS_MAX = 1000;
/** Instructions × characters that are run through at once: a few hundredths of a second at the worst. */
const STEPS_AT_ONCE_MAX = 1_000_000;
const CHARACTERS_AT_ONCE = { least: 2048, most: 262_144 };

/** What is wrong with an RE2 expression, in words for an administrator that do not quote it; null when nothing is. */
export function patternFault(source: string): string | null {
  try {
    const { size } = compiled(source);
    if (size <= INSTRUCTIONS_MAX) return null;
    return `The pattern is too large: ${size} instructions where ${INSTRUCTIONS_MAX} are allowed`;
  } catch {
    return "Expected an RE2 expression: there are no backreferences and no lookaround";
  }
}

/** @throws when the expression is none of RE2's. */
export function compilePattern(source: string): TextSearch {
  const { pattern, size } = compiled(source);
  const fitting = Math.floor(STEPS_AT_ONCE_MAX / Math.max(size, 1));
  const { least, most } = CHARACTERS_AT_ONCE;
  return {
    charactersMax: Math.min(Math.max(fitting, least), most),
    found: (text) => pattern.test(text),
    confirms: (text, piece) => matchesInPiece(pattern, text, piece),
  };
}

function compiled(source: string): { pattern: RE2JS; size: number } {
  const pattern = RE2JS.compile(source);
  return { pattern, size: pattern.programSize() };
}
