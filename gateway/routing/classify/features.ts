import { wordsOf } from "./characters.ts";
import { add, begin, type Collected, collected, from } from "./collect.ts";
import { type Lexicon, matchCues } from "./cues.ts";
import { finish, hashPair, hashSeed, hashSpan, hashStep, hashWord } from "./hashing.ts";
import { respell } from "./spelling.ts";
import { marksOf } from "./structure.ts";
import { readText } from "./text.ts";
import { addMeaning, DIMENSIONS, settleMeaning } from "./words.ts";

/** Groups of features that are weighed and normalised apart, so that a long text cannot drown its instruction. */
export const BLOCKS = { zone: 0, full: 1, marks: 2, cues: 3, kinds: 4, meaning: 5 } as const;
/** Those that are made of counted features; the others are numbers of their own. */
export const COUNTED_BLOCKS = 4;
export type Features = Collected & {
  /** What the words mean, summed and scaled to length 1; 0 where none is known. */
  meaning: Float32Array;
};

const FAMILY = {
  zonePair: 1,
  place: 2,
  piece: 5,
  fullWord: 6,
  fullPair: 7,
  mark: 8,
  cue: 9,
} as const;
const PLACES = 3;
const PIECE_MIN = 2;
const PIECE_MAX = 5;
/** A boundary stands on both sides of a word, so that "^pre" and "fix$" are pieces of their own. */
const BOUNDARY = 0x20;

function addPieces(zone: string, start: number, end: number): void {
  for (let first = start - 1; first < end; first++) {
    let hash = hashSeed(FAMILY.piece);
    const last = Math.min(first + PIECE_MAX, end + 1);
    for (let at = first; at < last; at++) {
      hash = hashStep(hash, at < start || at === end ? BOUNDARY : zone.charCodeAt(at));
      if (at - first + 1 >= PIECE_MIN) add(BLOCKS.zone, finish(hash));
    }
  }
}

function addZone(zone: string, meaning: Float32Array): void {
  const spans = wordsOf(zone);
  let previous = 0;
  for (let index = 0; index < spans.length; index += 2) {
    const start = spans[index] as number;
    const end = spans[index + 1] as number;
    const word = hashWord(zone, start, end);
    addMeaning(word, meaning);
    from(zone, start, end);
    add(BLOCKS.zone, word);
    if (index < PLACES * 2) add(BLOCKS.zone, hashPair(word, FAMILY.place + index / 2));
    from(zone, spans[index - 2] ?? 0, end);
    if (previous) add(BLOCKS.zone, hashPair(previous, word));
    previous = word;
    from(zone, start, end);
    addPieces(zone, start, Math.min(end, start + 24));
  }
}

function addFull(full: string): void {
  const spans = wordsOf(full);
  let previous = 0;
  for (let index = 0; index < spans.length; index += 2) {
    const start = spans[index] as number;
    const end = spans[index + 1] as number;
    const word = hashSpan(FAMILY.fullWord, full, start, end);
    from(full, start, end);
    add(BLOCKS.full, word);
    from(full, spans[index - 2] ?? 0, end);
    if (previous) add(BLOCKS.full, hashPair(previous, word));
    previous = word;
  }
}

/**
 * Distinct features of a text, at most 16,384. Pure: the same text and lexicon give the same features in the same
 * order. `explain` also names each feature, which costs about as much again.
 */
export function featuresOf(text: string, lexicon: Lexicon, explain = false): Features {
  const { raw, full, zone: written } = readText(text);
  const zone = respell(written);
  begin(explain);
  const meaning = new Float32Array(DIMENSIONS);
  addZone(zone, meaning);
  addFull(full);
  for (const mark of marksOf(raw)) {
    from(mark, 0, mark.length, "shape");
    add(BLOCKS.marks, hashSpan(FAMILY.mark, mark, 0, mark.length));
  }
  for (const { concept, matched } of matchCues(lexicon, zone)) {
    from(matched, 0, matched.length, concept);
    add(BLOCKS.cues, hashSpan(FAMILY.cue, concept, 0, concept.length));
  }
  return { ...collected(), meaning: settleMeaning(meaning) };
}
