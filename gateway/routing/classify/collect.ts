/** What a feature stands for, when asked: `text[start, end)` is a word, or the matched part of a cue; or a mark's name. */
export type Label = { text: string; start: number; end: number; concept: string | null };

/** What the features stand for: feature `i` for `distinct[of[i]]`. The pieces of a word share the word's label. */
export type Labels = { distinct: readonly Label[]; of: Uint16Array };

/** Distinct features of a text: `count[i]` occurrences of `hash[i]` in `block[i]`. `labels` only when explaining. */
export type Collected = { hash: Uint32Array; block: Uint8Array; count: Uint16Array; labels: Labels | null };

/**
 * Collects distinct features. One table is reused by all calls: each slot holds the number of the call it belongs to
 * and, below that, the place of a feature. Where it belongs to another call, it is empty.
 */
const PLACE_BITS = 14;
export const FEATURES_MAX = 1 << PLACE_BITS;
const CALLS_MAX = 2 ** (32 - PLACE_BITS) - 1;
const SLOTS = FEATURES_MAX * 2;
const slots = new Uint32Array(SLOTS);
const outHash = new Uint32Array(FEATURES_MAX);
const outBlock = new Uint8Array(FEATURES_MAX);
const outCount = new Uint16Array(FEATURES_MAX);
const outLabel = new Uint16Array(FEATURES_MAX);
let call = 0;
let size = 0;

/** What the next features are made of, for their label: a part of a text, and the concept where it is no word. */
const origin = { text: "", start: 0, end: 0, concept: null as string | null, isLabelled: false };
let labels: Label[] | null = null;

/** Says where the features added next come from: `text[start, end)`. */
export function from(text: string, start: number, end: number, concept: string | null = null): void {
  origin.text = text;
  origin.start = start;
  origin.end = end;
  origin.concept = concept;
  origin.isLabelled = false;
}

/** Begins another text. */
export function begin(explain: boolean): void {
  if (call === CALLS_MAX) slots.fill(0);
  call = call === CALLS_MAX ? 1 : call + 1;
  size = 0;
  labels = explain ? [] : null;
}

function label(found: Label[]): void {
  const { text, start, end, concept, isLabelled } = origin;
  if (!isLabelled) found.push({ text, start, end, concept });
  origin.isLabelled = true;
  outLabel[size] = found.length - 1;
}

/** Counts one occurrence of a feature; past 16,384 of them no further ones are taken. */
export function add(block: number, hash: number): void {
  let slot = hash & (SLOTS - 1);
  let entry = slots[slot] as number;
  while (entry >>> PLACE_BITS === call) {
    const place = entry & (FEATURES_MAX - 1);
    if (outHash[place] === hash) {
      outCount[place] = (outCount[place] as number) + 1;
      return;
    }
    slot = (slot + 1) & (SLOTS - 1);
    entry = slots[slot] as number;
  }
  if (size === FEATURES_MAX) return;
  slots[slot] = (call << PLACE_BITS) | size;
  outHash[size] = hash;
  outBlock[size] = block;
  outCount[size] = 1;
  if (labels) label(labels);
  size++;
}

/** What was added since the beginning, in the order of first occurrence. */
export function collected(): Collected {
  const found = {
    hash: outHash.slice(0, size),
    block: outBlock.slice(0, size),
    count: outCount.slice(0, size),
    labels: labels && { distinct: labels, of: outLabel.slice(0, size) },
  };
  labels = null;
  // No text outlives its call here.
  from("", 0, 0);
  return found;
}
