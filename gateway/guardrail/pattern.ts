import { RE2JS } from "re2js";
import type { TextSearch } from "../directory.ts";
import { matchesInPiece } from "./cut-text.ts";

/** Limit on a compiled pattern's instructions: the cost per character of hostile text grows with them. */
const INSTRUCTIONS_MAX = 1000;
/** Instructions × characters per search: at worst a few hundredths of a second. */
const STEPS_AT_ONCE_MAX = 1_000_000;
const CHARACTERS_AT_ONCE = { least: 2048, most: 262_144 };

/** Why an RE2 expression is invalid, for an administrator, without quoting it; null if it is valid. */
export function patternFault(source: string): string | null {
  try {
    const { size } = compiled(source);
    if (size <= INSTRUCTIONS_MAX) return null;
    return `The pattern is too large: ${size} instructions where ${INSTRUCTIONS_MAX} are allowed`;
  } catch {
    return "Expected an RE2 expression: there are no backreferences and no lookaround";
  }
}

/** @throws if the expression is not valid RE2. */
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
