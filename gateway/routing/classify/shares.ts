import type { Label, Labels } from "./collect.ts";
import { hashWord } from "./hashing.ts";
import { KINDS } from "./kinds.ts";
import type { Model } from "./model.ts";
import type { Decision } from "./score.ts";
import type { ScoredInDetail } from "./scored.ts";
import { columnsOf } from "./vocabulary.ts";

/** What one thing that a text has adds to the margin. */
type Share = Label & { weight: number };
/** The strongest words, the strongest of what is no word, and the sum of all shares. */
export type Shares = { terms: Share[]; concepts: Share[]; total: number };

const SHOWN_MAX = 8;
const NO_LABELS: Labels = { distinct: [], of: new Uint16Array(0) };

/** The part of the text that a share is of. */
export const textOf = ({ text, start, end }: Label): string => text.slice(start, end);

/** Each column's share of the margin. */
function weigher(
  { weights, classes }: Model,
  { ids, values }: ScoredInDetail["vector"],
  { best, second }: Decision,
): (at: number) => number {
  const count = classes.length;
  return (at) => {
    const base = (ids[at] as number) * count;
    const rival = second < 0 ? 0 : (weights[base + second] as number);
    return (values[at] as number) * ((weights[base + best] as number) - rival);
  };
}

/** The shares of each label's features together; not a number for labels whose features training never saw. */
function labelSums(
  { distinct, of }: Labels,
  source: Int32Array,
  weightAt: (at: number) => number,
): Float64Array {
  const sums = new Float64Array(distinct.length).fill(Number.NaN);
  for (let at = 0; at < source.length; at++) {
    const label = of[source[at] as number] as number;
    const sum = sums[label] as number;
    sums[label] = (Number.isNaN(sum) ? 0 : sum) + weightAt(at);
  }
  return sums;
}

function addTo<Key>(
  shares: Map<Key, Share>,
  key: Key,
  { text, start, end, concept }: Label,
  weight: number,
): void {
  const share = shares.get(key);
  if (share) share.weight += weight;
  else shares.set(key, { text, start, end, concept, weight });
}

/** The greatest by size, first those; of equal ones the earlier. Sorting all of them would take most of the time. */
function strongest(shares: Iterable<Share>): Share[] {
  const found: Share[] = [];
  for (const share of shares) {
    const size = Math.abs(share.weight);
    if (found.length === SHOWN_MAX && size <= Math.abs(found[SHOWN_MAX - 1]?.weight ?? 0)) continue;
    let at = found.length;
    while (at > 0 && Math.abs(found[at - 1]?.weight ?? 0) < size) at--;
    found.splice(at, 0, share);
    if (found.length > SHOWN_MAX) found.pop();
  }
  return found;
}

const wordless = (concept: string): Label => ({ text: "", start: 0, end: 0, concept });

/** What each thing that a text has adds to the margin: pieces of a word count for the word. */
export function sharesOf(model: Model, scored: ScoredInDetail, decision: Decision): Shares {
  const weightAt = weigher(model, scored.vector, decision);
  const words = new Map<number, Share>();
  const concepts = new Map<string, Share>();
  const { ids, source } = scored.vector;
  const labels = scored.features.labels ?? NO_LABELS;
  const sums = labelSums(labels, source, weightAt);
  for (let at = 0; at < sums.length; at++) {
    const label = labels.distinct[at] as Label;
    const weight = sums[at] as number;
    if (Number.isNaN(weight)) continue;
    const { text, start, end, concept } = label;
    if (concept === null) addTo(words, hashWord(text, start, end), label, weight);
    else addTo(concepts, `${concept}\0${text}`, label, weight);
  }
  const columns = columnsOf(model.vocabulary);
  for (let at = source.length; at < ids.length; at++) {
    const kind = (ids[at] as number) - columns;
    const concept = kind < 0 ? "meaning" : `kind:${KINDS[kind] ?? ""}`;
    addTo(concepts, concept, wordless(concept), weightAt(at));
  }
  let total = 0;
  for (const { weight } of words.values()) total += weight;
  for (const { weight } of concepts.values()) total += weight;
  return { terms: strongest(words.values()), concepts: strongest(concepts.values()), total };
}
