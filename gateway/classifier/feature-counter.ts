/** What a feature was read from: a word or word pair (`concept` null), a lexicon concept with the text it matched, or a mark. */
export type FeatureSource = { text: string; concept: string | null; id: number };

/** Distinct features of a text: `counts[i]` occurrences of `hashes[i]` in `blocks[i]`. */
export type CountedFeatures = {
  hashes: Uint32Array;
  blocks: Uint8Array;
  counts: Uint16Array;
  /** One per feature; empty unless an explanation was requested. */
  sources: readonly FeatureSource[];
};

const SLOTS_MIN = 64;

/** Counts the features of one text. */
export class FeatureCounter {
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
