/** What a UTF-16 code unit is to the tokenizer. */
export const GAP = 0;
export const LETTER = 1;
/** Scripts written without blanks between words (Han, Kana, Thai): each character is a word of its own. */
export const UNSPACED = 2;

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const UNSPACED_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]/u;

function classOf(code: number): number {
  const character = String.fromCharCode(code);
  if (UNSPACED_CHARACTER.test(character)) return UNSPACED;
  return WORD_CHARACTER.test(character) ? LETTER : GAP;
}

/** The class of every UTF-16 code unit: one table look-up a character in the hot path. Surrogates are letters. */
export const CHARACTER_CLASS = Uint8Array.from({ length: 65_536 }, (_, code) =>
  code >= 0xd800 && code <= 0xdfff ? LETTER : classOf(code),
);

/** Words of a normalised text; a character of an unspaced script is one word. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; at++) {
    const kind = at < text.length ? (CHARACTER_CLASS[text.charCodeAt(at)] ?? GAP) : GAP;
    if (kind === LETTER) {
      if (start < 0) start = at;
      continue;
    }
    if (start >= 0) words.push(text.slice(start, at));
    start = -1;
    if (kind === UNSPACED) words.push(text.slice(at, at + 1));
  }
  return words;
}
