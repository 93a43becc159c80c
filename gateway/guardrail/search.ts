import type { TextSearch } from "../directory.ts";
import type { Pace } from "./pace.ts";

/** Overlap of pieces: no match up to this length is missed. */
const OVERLAP_CHARACTERS = 1024;

/**
 * Whether a search matches one of the texts. Long texts are searched in overlapping pieces. Text that cannot be searched
 * in time counts as a match: hostile text must not get past a rule by being slow to search.
 */
export async function searchTexts(
  search: TextSearch,
  texts: readonly string[],
  pace: Pace,
): Promise<boolean> {
  for (const text of texts) {
    for (const piece of piecesOf(text, search.charactersMax)) {
      const goOn = pace();
      if (goOn !== true && !(await goOn)) return true;
      if (!search.found(text.slice(piece.from, piece.to))) continue;
      const isWhole = piece.from === 0 && piece.to === text.length;
      if (isWhole || !search.confirms || search.confirms(text, piece)) return true;
    }
  }
  return false;
}

function* piecesOf({ length }: string, charactersMax: number): Generator<{ from: number; to: number }> {
  for (let from = 0; ; from += charactersMax - OVERLAP_CHARACTERS) {
    const to = Math.min(from + charactersMax, length);
    yield { from, to };
    if (to === length) return;
  }
}
