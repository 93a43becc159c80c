import { hashWord } from "./hashing.ts";
import { readTexts, SEEDS } from "./kinds.ts";
import { rankOf } from "./word-vectors.ts";

/** Shorter words have too many neighbours; in words under seven letters only swapped letters are corrected. */
const LETTERS_MIN = 5;
const EDITED_MIN = 7;
const LETTERS_MAX = 20;
/** A word that only one built-in example has may be a name, or misspelled there too. */
const SEEN_MIN = 2;
/** A text is English if this share of its words is among the 200 most frequent ones. In other languages hardly any is. */
const FREQUENT_RANKS = 200;
const FREQUENT_SHARE = 0.15;
const PLAIN_WORDS = /(?<![\p{L}\p{M}\p{N}_])[a-z]+(?![\p{L}\p{M}\p{N}_])/gu;

/** Words of the built-in examples and cues, most frequent first. */
function familiarWords(): string[] {
  const seen = new Map<string, number>();
  const count = (text: string, times: number) => {
    for (const [word] of text.toLowerCase().matchAll(PLAIN_WORDS))
      seen.set(word, (seen.get(word) ?? 0) + times);
  };
  for (const { language, text } of SEEDS) if (language === "en") count(text, 1);
  for (const cue of Object.values(readTexts("lexicon", "en")).flat()) count(cue, SEEN_MIN);
  return [...seen]
    .filter(([word, times]) => times >= SEEN_MIN && word.length >= LETTERS_MIN)
    .sort((one, other) => other[1] - one[1])
    .map(([word]) => word);
}

/** The word and what remains without one of its letters. The first letter stays: it is seldom mistyped. */
const deletionsOf = (word: string): string[] => [
  word,
  ...Array.from({ length: word.length - 1 }, (_, at) => word.slice(0, at + 1) + word.slice(at + 2)),
];

/** `words`: all that are familiar; `byDeletion`: the most frequent one for each deletion (symmetric deletion index). */
type Familiar = { words: Set<string>; byDeletion: Map<string, string> };
let made: Familiar | null = null;

/** Makes the index of familiar words, unless it is made: a gateway without a choice of routes needs none. */
export function familiar(): Familiar {
  if (made !== null) return made;
  made = { words: new Set(familiarWords()), byDeletion: new Map() };
  for (const word of made.words) {
    for (const deletion of deletionsOf(word)) {
      if (!made.byDeletion.has(deletion)) made.byDeletion.set(deletion, word);
    }
  }
  return made;
}

/** Whether one letter swapped with its neighbour, missing, added or replaced makes the misspelled word of the other. */
function isOneEditApart(one: string, other: string): boolean {
  let front = 0;
  while (front < one.length && one[front] === other[front]) front++;
  const [a, b] = [one.slice(front), other.slice(front)];
  if (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)) return true;
  if (one.length < EDITED_MIN) return false;
  return a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1);
}

/** The familiar word that an unknown word misspells, or null. */
function corrected(word: string): string | null {
  if (word.length < LETTERS_MIN || word.length > LETTERS_MAX) return null;
  const { words, byDeletion } = familiar();
  if (words.has(word)) return null;
  for (const deletion of deletionsOf(word)) {
    const near = byDeletion.get(deletion);
    if (near !== undefined && isOneEditApart(word, near)) return near;
  }
  return null;
}

function isEnglish(words: readonly string[]): boolean {
  const frequent = words.filter((word) => {
    const rank = rankOf(hashWord(word));
    return rank >= 0 && rank < FREQUENT_RANKS;
  });
  return frequent.length >= FREQUENT_SHARE * words.length;
}

/** Corrects words of a normalised English text that are unknown and one edit away from examples' or cues' words. Pure. */
export function respell(text: string): string {
  const words = text.match(PLAIN_WORDS) ?? [];
  if (!isEnglish(words)) return text;
  return text.replace(PLAIN_WORDS, (word) => (rankOf(hashWord(word)) < 0 ? corrected(word) : null) ?? word);
}
