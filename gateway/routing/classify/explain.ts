import type { Label } from "./features.ts";
import { KINDS } from "./kinds.ts";
import type { Model } from "./model.ts";
import type { Rows } from "./rows.ts";
import type { Decision } from "./score.ts";
import type { Scored } from "./scored.ts";
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
  nearest: { route: string; exampleId: string; similarity: number } | null;
  runnerUp: string | null;
  margin: number;
  threshold: number;
  /** The kind of task that no route takes and that the text looks like, where it beats the best route. */
  hidden: string | null;
};

const SHOWN_MAX = 8;
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

type Share = Label & { weight: number };

function labelOf(model: Model, { features, vector, source }: Scored, at: number): Label | undefined {
  const id = vector.ids[at] ?? 0;
  const kind = id - columnsOf(model.vocabulary);
  if (kind < 0 && id >= model.vocabulary.width) return { text: "", concept: "meaning" };
  if (kind >= 0) return { text: "", concept: `kind:${KINDS[kind] ?? ""}` };
  return features.labels?.[source[at] ?? 0];
}

/** Each feature's share of the margin, gathered by what it stands for: pieces of a word count for the word. */
function sharesOf(model: Model, scored: Scored, { best, second }: Decision): Share[] {
  const count = model.classes.length;
  const { ids, values } = scored.vector;
  const weightOf = (id: number, index: number) => (index < 0 ? 0 : (model.weights[id * count + index] ?? 0));
  const shares = new Map<string, Share>();
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0;
    const weight = (values[at] ?? 0) * (weightOf(id, best) - weightOf(id, second));
    const label = labelOf(model, scored, at);
    if (!label) continue;
    const key = `${label.concept ?? ""}\0${label.text}`;
    const share = shares.get(key);
    if (share) share.weight += weight;
    else shares.set(key, { ...label, weight });
  }
  return [...shares.values()].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
}

/** Scratch space for the query's columns, one per model: zero outside of a call. */
const scratch = new WeakMap<Model, Float32Array>();

function scratchOf(model: Model): Float32Array {
  const kept = scratch.get(model);
  if (kept) return kept;
  const made = new Float32Array(model.nearest.rows.width + 1);
  scratch.set(model, made);
  return made;
}

/** Cosine of one example with the query, which stands in `dense` and has length √`square`. */
function cosineOf({ starts, ids, values }: Rows, row: number, dense: Float32Array, square: number): number {
  let product = 0;
  let length = 0;
  for (let at = starts[row] as number; at < (starts[row + 1] as number); at++) {
    const value = values[at] as number;
    product += value * (dense[ids[at] as number] as number);
    length += value * value;
  }
  return product / Math.sqrt(length * square || 1);
}

function nearestOf(model: Model, { vector }: Scored, { best, second }: Decision): Why["nearest"] {
  const dense = scratchOf(model);
  for (let at = 0; at < vector.ids.length; at++)
    dense[vector.ids[at] as number] = vector.values[at] as number;
  const square = vector.values.reduce((sum, value) => sum + value * value, 0);
  const { rows, classOf, ids } = model.nearest;
  let [top, similarity] = [-1, 0];
  for (let row = 0; row < rows.count; row++) {
    const name = model.classes[classOf[row] ?? -1]?.name;
    if (name !== model.classes[best]?.name && name !== model.classes[second]?.name) continue;
    const cosine = cosineOf(rows, row, dense, square);
    if (cosine > similarity) [top, similarity] = [row, cosine];
  }
  for (const id of vector.ids) dense[id] = 0;
  if (top < 0) return null;
  const route = model.classes[classOf[top] ?? -1]?.name ?? "";
  return { route, exampleId: ids[top] ?? "", similarity: rounded(similarity) };
}

/** Explains a decision by exact shares of its margin and by the nearest example. */
export function explain(model: Model, scored: Scored, decision: Decision): Why {
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
    nearest: nearestOf(model, scored, decision),
    ...facts,
  };
}
