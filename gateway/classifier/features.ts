import { matchCues } from "./cues.ts";
import { hashOf, hashPair, hashWord } from "./hashing.ts";
import { LEXICON } from "./lexicon.ts";
import { marksOf } from "./marks.ts";
import { respell } from "./spelling.ts";
import { clip, readText } from "./text.ts";
import { wordsOf } from "./tokenizer.ts";
import { addWordVector, DIMENSIONS, toUnitLength } from "./word-vectors.ts";

/** Groups of features that are weighted and normalised separately, so that a long text cannot drown its instruction. */
export const BLOCKS = { zone: 0, full: 1, marks: 2, cues: 3, kinds: 4, meaning: 5 } as const;
/** The first blocks consist of counted features; `kinds` and `meaning` are dense. */
export const COUNTED_BLOCKS = 4;

/** What a feature was read from: a word (`concept` null), a lexicon concept with the text it matched, or a mark. */
export type FeatureSource = { text: string; concept: string | null };

/** Distinct features of a text: `counts[i]` occurrences of `hashes[i]` in `blocks[i]`. */
export type Features = {
  hashes: Uint32Array;
  blocks: Uint8Array;
  counts: Uint16Array;
  /** One per feature; empty unless an explanation was requested. */
  sources: readonly FeatureSource[];
  /** Average of the word vectors, scaled to length 1; 0 if no word is known. */
  meaning: Float32Array;
};

/** Hash families: the same word gives a different feature in each. */
const FAMILY = { position: 2, prefix: 5, fullWord: 6, mark: 8, cue: 9 } as const;
/** How much of a text is searched for marks. */
const MARKED = { head: 700, tail: 300 };
/** The first words of the zone are features by their position, too. */
const POSITIONS = 3;
/** Word prefixes stand in for stemming: "summarise", "summary" and "summaries" share both. */
const PREFIX_CHARACTERS = [3, 4] as const;

class FeatureCounter {
  readonly #index = new Map<number, number>();
  readonly #hashes: number[] = [];
  readonly #blocks: number[] = [];
  readonly #counts: number[] = [];
  readonly #sources: FeatureSource[] = [];
  readonly #explain: boolean;
  #source: FeatureSource | null = null;

  constructor(explain: boolean) {
    this.#explain = explain;
  }

  /** Names the source of the features added next. */
  readFrom(text: string, concept: string | null = null): void {
    if (this.#explain) this.#source = { text, concept };
  }

  add(block: number, hash: number): void {
    // A signed 32-bit key: others are looked up several times slower.
    const key = hash | 0;
    const known = this.#index.get(key);
    if (known !== undefined) {
      this.#counts[known] = (this.#counts[known] ?? 0) + 1;
      return;
    }
    this.#index.set(key, this.#hashes.length);
    this.#hashes.push(hash);
    this.#blocks.push(block);
    this.#counts.push(1);
    if (this.#source) this.#sources.push(this.#source);
  }

  result(): Omit<Features, "meaning"> {
    return {
      hashes: new Uint32Array(this.#hashes),
      blocks: new Uint8Array(this.#blocks),
      counts: new Uint16Array(this.#counts),
      sources: this.#sources,
    };
  }
}

/** Features of a text. Pure: the same text gives the same features in the same order. */
export function featuresOf(text: string, explain = false): Features {
  const { raw, full, zone: written } = readText(text);
  const zone = respell(written);
  const counter = new FeatureCounter(explain);
  const meaning = new Float32Array(DIMENSIONS);
  addZone(wordsOf(zone), counter, meaning);
  addFullText(wordsOf(full), counter);
  for (const mark of marksOf(clip(raw, MARKED))) {
    counter.readFrom(mark, "shape");
    counter.add(BLOCKS.marks, hashOf(FAMILY.mark, mark));
  }
  for (const { concept, matched } of matchCues(LEXICON, zone)) {
    counter.readFrom(matched, concept);
    counter.add(BLOCKS.cues, hashOf(FAMILY.cue, concept));
  }
  return { ...counter.result(), meaning: toUnitLength(meaning) };
}

/** The instruction zone: words, the first of them by position, prefixes, pairs, and what the words mean. */
function addZone(words: readonly string[], counter: FeatureCounter, meaning: Float32Array): void {
  let previous = 0;
  for (const [at, word] of words.entries()) {
    const hash = hashWord(word);
    addWordVector(hash, meaning);
    counter.readFrom(word);
    counter.add(BLOCKS.zone, hash);
    if (at < POSITIONS) counter.add(BLOCKS.zone, hashPair(hash, FAMILY.position + at));
    for (const length of PREFIX_CHARACTERS) {
      if (word.length >= length) counter.add(BLOCKS.zone, hashOf(FAMILY.prefix, word.slice(0, length)));
    }
    if (previous) {
      counter.readFrom(`${words[at - 1]} ${word}`);
      counter.add(BLOCKS.zone, hashPair(previous, hash));
    }
    previous = hash;
  }
}

/** The whole text: words and pairs. */
function addFullText(words: readonly string[], counter: FeatureCounter): void {
  let previous = 0;
  for (const [at, word] of words.entries()) {
    const hash = hashOf(FAMILY.fullWord, word);
    counter.readFrom(word);
    counter.add(BLOCKS.full, hash);
    if (previous) {
      counter.readFrom(`${words[at - 1]} ${word}`);
      counter.add(BLOCKS.full, hashPair(previous, hash));
    }
    previous = hash;
  }
}
