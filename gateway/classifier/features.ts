import { lexicon, matchCues } from "./cues.ts";
import { hashOf, hashPair, hashWord } from "./hashing.ts";
import { marksOf } from "./marks.ts";
import { familiar, respell } from "./spelling.ts";
import { clip, readText, type Words, wordAt, wordsOf } from "./text.ts";
import { addWordVector, toUnitLength, VECTOR_LENGTH, wordVectors } from "./word-vectors.ts";

/** Groups of features that are weighted and normalised separately, so that a long text cannot drown its instruction. */
export const BLOCKS = { zone: 0, full: 1, marks: 2, cues: 3, kinds: 4, meaning: 5 } as const;
/** The first blocks consist of counted features; `kinds` and `meaning` are dense. */
export const COUNTED_BLOCKS = 4;

/** A text as the models see it. */
export type Features = CountedFeatures & {
  /** Average of the word vectors, scaled to length 1; 0 if no word is known. */
  meaning: Float32Array;
};

/** Hash families: the same word gives a different feature in each. */
const FAMILY = { position: 2, prefix: 5, full: 6, mark: 8, cue: 9 } as const;
/** How much of a text is searched for marks. */
const MARKED = { head: 700, tail: 300 };
/** The first words of the zone are features by their position, too. */
const POSITIONS = 3;
/** Word prefixes replace stemming: "summarise", "summary" and "summaries" share both. */
const PREFIX_CHARACTERS = [3, 4] as const;

/** The most features that a word of the zone, or of the whole text, adds. */
const PER_ZONE_WORD = 3 + PREFIX_CHARACTERS.length;
const PER_WORD = 2;

/** Loads all that features need, which takes some 200 ms, so that no call has to. */
export function prepareFeatures(): void {
  wordVectors();
  lexicon();
  familiar();
}

/** Features of a text. Pure: the same text gives the same features in the same order. */
export function featuresOf(text: string, explain = false): Features {
  const { raw, full, zone: written } = readText(text);
  const zone = respell(written);
  const [zoneWords, words] = [wordsOf(zone), wordsOf(full)];
  const [marks, cues] = [marksOf(clip(raw, MARKED)), matchCues(lexicon(), zone)];
  const capacity =
    PER_ZONE_WORD * zoneWords.hashes.length + PER_WORD * words.hashes.length + marks.length + cues.length;
  const counter = new FeatureCounter(capacity, explain);
  const meaning = new Float32Array(VECTOR_LENGTH);
  addZone(zoneWords, counter, meaning);
  addFullText(words, counter);
  for (const mark of marks) {
    const hash = hashOf(FAMILY.mark, mark);
    counter.readFrom(hash, mark, "shape");
    counter.add(BLOCKS.marks, hash);
  }
  for (const { concept, matched } of cues) {
    const hash = hashOf(FAMILY.cue, concept);
    counter.readFrom(hash, matched, concept);
    counter.add(BLOCKS.cues, hash);
  }
  return { ...counter.result(), meaning: toUnitLength(meaning) };
}

/** The instruction zone: words, the first of them by position, prefixes, pairs, and what the words mean. */
function addZone(words: Words, counter: FeatureCounter, meaning: Float32Array): void {
  for (const [at, hash] of words.hashes.entries()) {
    addWordVector(hash, meaning);
    if (counter.explains) counter.readFrom(hash, wordAt(words, at));
    counter.add(BLOCKS.zone, hash);
    if (at < POSITIONS) counter.add(BLOCKS.zone, hashPair(hash, FAMILY.position + at));
    addPrefixes(words, at, counter);
    if (at > 0) counter.add(BLOCKS.zone, pairAt(words, at, counter));
  }
}

function addPrefixes({ text, starts, ends }: Words, word: number, counter: FeatureCounter): void {
  const start = starts[word] ?? 0;
  for (const length of PREFIX_CHARACTERS) {
    const end = start + length;
    if (end > (ends[word] ?? 0)) return;
    counter.add(BLOCKS.zone, hashPair(hashWord(text, start, end), FAMILY.prefix));
  }
}

/** The whole text: words and pairs. */
function addFullText(words: Words, counter: FeatureCounter): void {
  const { hashes } = words;
  for (let at = 0; at < hashes.length; at++) {
    const hash = hashes[at] ?? 0;
    if (counter.explains) counter.readFrom(hash, wordAt(words, at));
    counter.add(BLOCKS.full, hashPair(hash, FAMILY.full));
    if (at > 0) counter.add(BLOCKS.full, hashPair(pairAt(words, at, counter), FAMILY.full));
  }
}

/** The hash of a word and the one before it, which becomes the source of the next features. */
function pairAt(words: Words, at: number, counter: FeatureCounter): number {
  const pair = hashPair(words.hashes[at - 1] ?? 0, words.hashes[at] ?? 0);
  if (counter.explains) counter.readFrom(pair, `${wordAt(words, at - 1)} ${wordAt(words, at)}`);
  return pair;
}

/** What a feature was read from: a word or word pair (`concept` null), a lexicon concept with the text it matched, or a mark. */
export type FeatureSource = { text: string; concept: string | null; id: number };

/** Distinct features of a text: `counts[i]` occurrences of `hashes[i]` in `blocks[i]`. */
type CountedFeatures = {
  hashes: Uint32Array;
  blocks: Uint8Array;
  counts: Uint16Array;
  /** One per feature; empty unless an explanation was requested. */
  sources: readonly FeatureSource[];
};

const SLOTS_MIN = 64;

class FeatureCounter {
  readonly #hashes: Uint32Array;
  readonly #blocks: Uint8Array;
  readonly #counts: Uint16Array;
  /** Open addressing: the number of a feature in the arrays above, plus 1; 0 marks an empty slot. */
  readonly #slots: Uint16Array;
  readonly #sources: FeatureSource[] = [];
  /** Whether sources are kept: only then does it make sense to name them. */
  readonly explains: boolean;
  #source: FeatureSource | null = null;
  #size = 0;

  /** `capacity`: the most features that will be added, at most 65,535. */
  constructor(capacity: number, explain: boolean) {
    this.#hashes = new Uint32Array(capacity);
    this.#blocks = new Uint8Array(capacity);
    this.#counts = new Uint16Array(capacity);
    this.#slots = new Uint16Array(Math.max(2 ** Math.ceil(Math.log2(1.5 * capacity)), SLOTS_MIN));
    this.explains = explain;
  }

  /** Names the source of the features added next. The same text of the same concept has the same `id`. */
  readFrom(id: number, text: string, concept: string | null = null): void {
    if (this.explains) this.#source = { text, concept, id };
  }

  add(block: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let number = slots[slot] ?? 0; number !== 0; number = slots[slot] ?? 0) {
      if (this.#hashes[number - 1] === hash) {
        this.#counts[number - 1] = (this.#counts[number - 1] ?? 0) + 1;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#hashes[this.#size] = hash;
    this.#blocks[this.#size] = block;
    this.#counts[this.#size] = 1;
    this.#size++;
    slots[slot] = this.#size;
    if (this.#source) this.#sources.push(this.#source);
  }

  result(): CountedFeatures {
    return {
      hashes: this.#hashes.slice(0, this.#size),
      blocks: this.#blocks.slice(0, this.#size),
      counts: this.#counts.slice(0, this.#size),
      sources: this.#sources,
    };
  }
}
