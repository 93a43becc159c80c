import { hashWord } from "./hashing.ts";

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

/** Words of a text by their places: word `i` is `text.slice(starts[i], ends[i])`, `hashes[i]` its hash. */
export type Words = {
  text: string;
  starts: readonly number[];
  ends: readonly number[];
  hashes: Uint32Array;
};

/** Finds the words of a normalised text; a character of an unspaced script is one word. */
export function wordsOf(text: string): Words {
  const starts: number[] = [];
  const ends: number[] = [];
  const isLetter = (at: number) => CHARACTER_CLASS[text.charCodeAt(at)] === LETTER;
  for (let at = 0; at < text.length; ) {
    const start = at;
    const kind = CHARACTER_CLASS[text.charCodeAt(start)];
    at++;
    if (kind === GAP) continue;
    while (kind === LETTER && at < text.length && isLetter(at)) at++;
    starts.push(start);
    ends.push(at);
  }
  const hashes = new Uint32Array(starts.length);
  for (let word = 0; word < hashes.length; word++) hashes[word] = hashWord(text, starts[word], ends[word]);
  return { text, starts, ends, hashes };
}

/** A word's text. */
export const wordAt = ({ text, starts, ends }: Words, word: number): string =>
  text.slice(starts[word], ends[word]);
