import { wordsOf } from "./characters.ts";
import { finish, hashSeed, hashStep, hashWord } from "./hashing.ts";
import en from "./lexicon/en.json";
import { SEEDS } from "./seeds.ts";
import { rankOf, wordAt } from "./words.ts";

/** Shorter words have too many neighbours, and those of four letters all but the most frequent ones. */
const SWAPPED_MIN = 4;
const SHORT_RANKS = 1000;
const EDITED_MIN = 7;
const LETTERS_MAX = 20;
/** A word that one built-in example alone has may be a name, or mistyped there too. */
const SEEN_MIN = 2;
const SEPARATOR = /[^\p{L}\p{M}\p{N}_]+/u;
const PLAIN = /^[a-z]+$/;

/** Words that tasks are asked with, by their hash; `near` finds them by what is left without one of their letters. */
type Familiar = { words: ReadonlyMap<number, string>; near: ReadonlyMap<number, string> };

const [A, Z] = [0x61, 0x7a];
function isPlain(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < A || code > Z) return false;
  }
  return true;
}

/** Hash of `text[start, end)` less the letter at `gap`, and with the letters at `swap` and after it exchanged (−1: none). */
function hashEdited(text: string, start: number, end: number, gap: number, swap: number): number {
  let hash = hashSeed(0);
  for (let at = start; at < end; at++) {
    if (at === gap) continue;
    let from = at;
    if (swap >= 0 && at === swap) from = at + 1;
    if (swap >= 0 && at === swap + 1) from = swap;
    hash = hashStep(hash, text.charCodeAt(from));
  }
  return finish(hash);
}

/** Hashes of a word and of all that one letter less makes of it. The first letter stays: it is seldom mistyped. */
function neighbours(text: string, start: number, end: number): number[] {
  const hashes = [hashWord(text, start, end)];
  for (let gap = start + 1; gap < end; gap++) hashes.push(hashEdited(text, start, end, gap, -1));
  return hashes;
}

function familiarWords(): Familiar {
  const seen = new Map<string, number>();
  const count = (text: string, times: number) => {
    for (const word of text.toLowerCase().split(SEPARATOR)) {
      if (word.length >= SWAPPED_MIN && PLAIN.test(word)) seen.set(word, (seen.get(word) ?? 0) + times);
    }
  };
  for (const { language, text } of SEEDS) if (language === "en") count(text, 1);
  for (const cue of Object.values(en).flat()) count(cue, SEEN_MIN);
  const common = [...seen].filter(([, times]) => times >= SEEN_MIN).sort((one, other) => other[1] - one[1]);
  const near = new Map<number, string>();
  for (const [word] of common.filter(([{ length }]) => length >= EDITED_MIN)) {
    for (const hash of neighbours(word, 0, word.length)) if (!near.has(hash)) near.set(hash, word);
  }
  return { words: new Map(common.map(([word]) => [hashWord(word, 0, word.length), word])), near };
}

const FAMILIAR = familiarWords();

/** A known word and its rank; −1 for those that tasks are asked with, which go before all others. */
function knownBy(hash: number): { word: string; rank: number } | null {
  const asked = FAMILIAR.words.get(hash);
  if (asked !== undefined) return { word: asked, rank: -1 };
  const rank = rankOf(hash);
  return rank < 0 ? null : { word: wordAt(rank), rank };
}

/** The most frequent known word of which two neighbouring letters were exchanged, or null. */
function unswapped(text: string, start: number, end: number): string | null {
  const rankMax = end - start > SWAPPED_MIN ? Number.POSITIVE_INFINITY : SHORT_RANKS;
  let best: { word: string; rank: number } | null = null;
  for (let swap = start + 1; swap < end - 1; swap++) {
    const known = knownBy(hashEdited(text, start, end, -1, swap));
    if (known === null || known.rank >= (best?.rank ?? rankMax)) continue;
    // Another word's hash may be the same.
    const meant = `${text.slice(start, swap)}${text[swap + 1]}${text[swap]}${text.slice(swap + 2, end)}`;
    if (meant === known.word) best = known;
  }
  return best?.word ?? null;
}

/** Whether two words differ by one letter that is missing, added or another. */
function isOneEdit(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  let front = 0;
  while (front < shorter && one[front] === other[front]) front++;
  let back = 0;
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back++;
  return Math.max(one.length, other.length) - front - back === 1;
}

function unedited(text: string, start: number, end: number): string | null {
  const word = text.slice(start, end);
  for (const hash of neighbours(text, start, end)) {
    const near = FAMILIAR.near.get(hash);
    if (near !== undefined && isOneEdit(word, near)) return near;
  }
  return null;
}

/** What an unknown word was meant to be; null where tasks are asked with it, or nothing known is near. */
function meant(text: string, start: number, end: number): string | null {
  const length = end - start;
  if (length < SWAPPED_MIN || length > LETTERS_MAX) return null;
  if (FAMILIAR.words.has(hashWord(text, start, end))) return null;
  return unswapped(text, start, end) ?? (length >= EDITED_MIN ? unedited(text, start, end) : null);
}

/** In English one word in three is one of the 200 most frequent; in other languages hardly any is. */
const FREQUENT_RANKS = 200;
const FREQUENT_SHARE = 0.15;

/**
 * Words of a to z that are not among the most frequent 30,000, as [start, end) pairs, if the text is English; none else:
 * other languages' words are unknown too.
 */
function unknownWords(text: string): number[] {
  const spans = wordsOf(text);
  const unknown: number[] = [];
  let plain = 0;
  let frequent = 0;
  for (let at = 0; at < spans.length; at += 2) {
    const start = spans[at] as number;
    const end = spans[at + 1] as number;
    if (!isPlain(text, start, end)) continue;
    plain++;
    const rank = rankOf(hashWord(text, start, end));
    if (rank < 0) unknown.push(start, end);
    else if (rank < FREQUENT_RANKS) frequent++;
  }
  return frequent >= FREQUENT_SHARE * plain ? unknown : [];
}

/**
 * Puts mistyped words of a normalised English text right: unknown words of a to z that are an exchange of two
 * neighbouring letters away from a known word, or one letter away from a word of the built-in examples and cues. Pure.
 */
export function respell(text: string): string {
  const spans = unknownWords(text);
  let out = "";
  let done = 0;
  for (let at = 0; at < spans.length; at += 2) {
    const start = spans[at] as number;
    const end = spans[at + 1] as number;
    const word = meant(text, start, end);
    if (word === null) continue;
    out += text.slice(done, start) + word;
    done = end;
  }
  return out + text.slice(done);
}
