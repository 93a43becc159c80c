import { wordsOf } from "./characters.ts";
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
/** What a feature stands for, when asked: a word of the text, a mark of its shape, or a cue. */
export type Label = { text: string; concept: string | null };

/** Distinct features of a text: `count[i]` occurrences of `hash[i]` in `block[i]`. `labels` only when explaining. */
export type Features = {
  hash: Uint32Array;
  block: Uint8Array;
  count: Uint16Array;
  /** What the words mean, summed and scaled to length 1; 0 where none is known. */
  meaning: Float32Array;
  labels: Label[] | null;
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

/** Collects distinct features. One table is reused by all calls: a stamp says which slots are this call's. */
const SLOTS = 1 << 15;
const slotHash = new Uint32Array(SLOTS);
const slotStamp = new Uint32Array(SLOTS);
const slotIndex = new Uint16Array(SLOTS);
const FEATURES_MAX = SLOTS / 2;
const outHash = new Uint32Array(FEATURES_MAX);
const outBlock = new Uint8Array(FEATURES_MAX);
const outCount = new Uint16Array(FEATURES_MAX);
let stamp = 0;
let size = 0;
let outLabels: Label[] | null = null;

/** What a feature is made of, for its label: a part of a text, and the concept where it is no word. */
type Origin = { text: string; concept: string | null };

function add(block: number, hash: number, { text, concept }: Origin, start = 0, end = text.length): void {
  let slot = hash & (SLOTS - 1);
  while (slotStamp[slot] === stamp) {
    if (slotHash[slot] === hash) {
      const index = slotIndex[slot] ?? 0;
      outCount[index] = (outCount[index] ?? 0) + 1;
      return;
    }
    slot = (slot + 1) & (SLOTS - 1);
  }
  if (size === FEATURES_MAX) return;
  slotStamp[slot] = stamp;
  slotHash[slot] = hash;
  slotIndex[slot] = size;
  outHash[size] = hash;
  outBlock[size] = block;
  outCount[size] = 1;
  outLabels?.push({ text: text.slice(start, end), concept });
  size++;
}

function addPieces(zone: Origin, start: number, end: number, wordEnd: number): void {
  for (let from = start - 1; from < end; from++) {
    let hash = hashSeed(FAMILY.piece);
    const last = Math.min(from + PIECE_MAX, end + 1);
    for (let at = from; at < last; at++) {
      hash = hashStep(hash, at < start || at === end ? BOUNDARY : zone.text.charCodeAt(at));
      if (at - from + 1 >= PIECE_MIN) add(BLOCKS.zone, finish(hash), zone, start, wordEnd);
    }
  }
}

function addZone(zone: string, meaning: Float32Array): void {
  const spans = wordsOf(zone);
  const origin = { text: zone, concept: null };
  let previous = 0;
  for (let index = 0; index < spans.length; index += 2) {
    const start = spans[index] ?? 0;
    const end = spans[index + 1] ?? 0;
    const word = hashWord(zone, start, end);
    addMeaning(word, meaning);
    add(BLOCKS.zone, word, origin, start, end);
    if (index < PLACES * 2) add(BLOCKS.zone, hashPair(word, FAMILY.place + index / 2), origin, start, end);
    if (previous) add(BLOCKS.zone, hashPair(previous, word), origin, spans[index - 2] ?? 0, end);
    previous = word;
    addPieces(origin, start, Math.min(end, start + 24), end);
  }
}

function addFull(full: string): void {
  const spans = wordsOf(full);
  const origin = { text: full, concept: null };
  let previous = 0;
  for (let index = 0; index < spans.length; index += 2) {
    const start = spans[index] ?? 0;
    const end = spans[index + 1] ?? 0;
    const word = hashSpan(FAMILY.fullWord, full, start, end);
    add(BLOCKS.full, word, origin, start, end);
    if (previous) add(BLOCKS.full, hashPair(previous, word), origin, spans[index - 2] ?? 0, end);
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
  stamp++;
  size = 0;
  outLabels = explain ? [] : null;
  const meaning = new Float32Array(DIMENSIONS);
  addZone(zone, meaning);
  addFull(full);
  for (const mark of marksOf(raw)) {
    add(BLOCKS.marks, hashSpan(FAMILY.mark, mark, 0, mark.length), { text: mark, concept: "shape" });
  }
  for (const cue of matchCues(lexicon, zone)) {
    const { concept, matched } = cue;
    add(BLOCKS.cues, hashSpan(FAMILY.cue, concept, 0, concept.length), { text: matched, concept });
  }
  const features = {
    hash: outHash.slice(0, size),
    block: outBlock.slice(0, size),
    count: outCount.slice(0, size),
    meaning: settleMeaning(meaning),
    labels: outLabels,
  };
  outLabels = null;
  return features;
}
