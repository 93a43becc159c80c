import type { Label } from "./collect.ts";
import { KINDS } from "./kinds.ts";
import type { Model } from "./model.ts";
import { type Nearest, nearestOf } from "./nearest.ts";
import type { Decision } from "./score.ts";
import type { ScoredInDetail } from "./scored.ts";
import { columnsOf } from "./vocabulary.ts";

/**
 * Why a text went where it went. `terms`, `concepts`, `other` and `bias` are exact shares of the margin between the
 * best route and the one after it (of its own score where there is only one): they sum to it.
 */
export type Why = {
  terms: { term: string; weight: number }[];
  /** Cues of the lexicon, marks of shape (`shape`), and what the built-in knowledge takes the text for (`kind:…`). */
  concepts: { concept: string; matched: string; weight: number }[];
  other: number;
  bias: number;
  /** The most similar example of the two leading routes: the administrator's by its place, or a built-in one. */
  nearest: Nearest | null;
  runnerUp: string | null;
  margin: number;
  threshold: number;
  /** The kind of task that no route takes and that the text looks like, where it beats the best route. */
  hidden: string | null;
};

const SHOWN_MAX = 8;
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

type Share = Label & { weight: number };

/** Each column's share of the margin. */
function weigher(
  model: Model,
  { vector }: ScoredInDetail,
  { best, second }: Decision,
): (at: number) => number {
  const { weights, classes } = model;
  const { ids, values } = vector;
  return (at) => {
    const base = (ids[at] as number) * classes.length;
    const rival = second < 0 ? 0 : (weights[base + second] as number);
    return (values[at] as number) * ((weights[base + best] as number) - rival);
  };
}

/** Shares of what the text's own features stand for: pieces of a word count for the word. */
function labelledShares(
  { features, vector: { source } }: ScoredInDetail,
  weightAt: (at: number) => number,
): Share[] {
  const { distinct, of } = features.labels ?? { distinct: [], of: new Uint16Array(0) };
  const sums = new Float64Array(distinct.length);
  const isKnown = new Uint8Array(distinct.length);
  for (let at = 0; at < source.length; at++) {
    const label = of[source[at] as number] as number;
    sums[label] = (sums[label] as number) + weightAt(at);
    isKnown[label] = 1;
  }
  const shares = new Map<string, Share>();
  for (const [at, label] of distinct.entries()) {
    if (isKnown[at] === 0) continue;
    const key = label.concept === null ? label.text : `${label.concept}\0${label.text}`;
    const share = shares.get(key);
    if (share) share.weight += sums[at] as number;
    else shares.set(key, { ...label, weight: sums[at] as number });
  }
  return [...shares.values()];
}

/** Each feature's share of the margin, gathered by what it stands for, the greatest first. */
function sharesOf(model: Model, scored: ScoredInDetail, decision: Decision): Share[] {
  const weightAt = weigher(model, scored, decision);
  const { ids, source } = scored.vector;
  const columns = columnsOf(model.vocabulary);
  const meaning = { text: "", concept: "meaning", weight: 0 };
  const shares = labelledShares(scored, weightAt);
  if ((ids[source.length] ?? columns) < columns) shares.push(meaning);
  for (let at = source.length; at < ids.length; at++) {
    const kind = (ids[at] as number) - columns;
    if (kind < 0) meaning.weight += weightAt(at);
    else shares.push({ text: "", concept: `kind:${KINDS[kind] ?? ""}`, weight: weightAt(at) });
  }
  return shares.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
}

/** Explains a decision by exact shares of its margin and by the nearest example. */
export function explain(model: Model, scored: ScoredInDetail, decision: Decision): Why {
  const { best, second, hidden } = decision;
  const worthOf = (index: number) => (index < 0 ? 0 : (scored.scores[index] ?? 0));
  const margin = rounded(worthOf(best) - worthOf(second));
  const nothing = { terms: [], concepts: [], other: 0, bias: 0, nearest: null };
  const facts = {
    runnerUp: model.classes[second]?.name ?? null,
    margin,
    threshold: rounded(model.threshold),
    hidden: hidden >= 0 && worthOf(hidden) > worthOf(best) ? (model.classes[hidden]?.name ?? null) : null,
  };
  if (best < 0) return { ...nothing, ...facts };
  const shares = sharesOf(model, scored, decision);
  const terms = shares.filter(({ concept }) => concept === null).slice(0, SHOWN_MAX);
  const concepts = shares.filter(({ concept }) => concept !== null).slice(0, SHOWN_MAX);
  const count = model.classes.length;
  const biasAt = (model.weights.length / count - 1) * count;
  const rival = second < 0 ? 0 : (model.weights[biasAt + second] ?? 0);
  const bias = rounded((model.weights[biasAt + best] ?? 0) - rival);
  const shown = [...terms, ...concepts].reduce((sum, { weight }) => sum + rounded(weight), bias);
  return {
    terms: terms.map(({ text, weight }) => ({ term: text, weight: rounded(weight) })),
    concepts: concepts.map(({ concept, text, weight }) => ({
      concept: concept ?? "",
      matched: text,
      weight: rounded(weight),
    })),
    other: rounded(shares.reduce((sum, { weight }) => sum + weight, 0) - (shown - bias)),
    bias,
    nearest: nearestOf(model, scored.vector, decision),
    ...facts,
  };
}
