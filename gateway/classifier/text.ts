import { hashWord } from "./hashing.ts";
import { TUNING } from "./tuning.ts";

/** How many characters are kept of a long text's beginning and end. */
type Extent = { head: number; tail: number };
/** All later work is bounded by this. */
const READ: Extent = { head: 1500, tail: 500 };
/** A separator this early is part of a greeting or a title, not the end of the instruction. */
const INSTRUCTION_MIN_CHARACTERS = 24;

/** Where material begins: a blank line, a fence, a quoted block, or a line that ends in a colon. */
const MATERIAL = /\n\s*\n|```|"""|'''|[:：]\s*\n/g;

const NON_ASCII = /[^\0-\x7f]/;

/** A text as the classifier reads it: at most 2,000 characters, normalised, and the parts that carry the instruction. */
export type ReadText = { raw: string; full: string; zone: string };

/** Cuts a text to its first 1,500 and last 500 characters (or another extent), a line end between them. */
export function clip(text: string, { head, tail }: Extent = READ): string {
  if (text.length <= head + tail + 1) return text;
  return `${text.slice(0, head)}\n${text.slice(-tail)}`;
}

/** Compatibility forms folded (NFKC), lower case, every run of digits one `0`. Line ends stay. */
export function normalise(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase().replace(/\d+/g, "0");
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\p{Nd}+/gu, "0");
}

function headOf(text: string): string {
  MATERIAL.lastIndex = INSTRUCTION_MIN_CHARACTERS;
  const material = MATERIAL.exec(text);
  const end = Math.min(material?.index ?? text.length, TUNING.zoneHead);
  return text.slice(0, end);
}

/**
 * Finds the instruction zone of a normalised text, where people write what they want, before or after the material: its
 * first 160 characters, cut where material begins, and the last 100 of a longer text. A line end separates the two.
 */
export function zoneOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= TUNING.zoneHead + TUNING.zoneTail && !MATERIAL_TEST.test(trimmed)) return trimmed;
  const head = headOf(trimmed);
  const tail = trimmed.slice(Math.max(head.length, trimmed.length - TUNING.zoneTail));
  return `${head}\n${tail}`;
}
const MATERIAL_TEST = new RegExp(MATERIAL.source);

/** Reads a text for the classifier. The cost is bounded whatever its length. */
export function readText(text: string): ReadText {
  const raw = clip(text);
  // Clipped again: a single character can fold to eighteen.
  const full = clip(normalise(raw));
  return { raw, full, zone: zoneOf(full) };
}

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

export const wordAt = ({ text, starts, ends }: Words, word: number): string =>
  text.slice(starts[word], ends[word]);
