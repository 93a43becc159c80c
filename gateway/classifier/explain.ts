import type { Decision } from "./decide.ts";
import type { FeatureSource } from "./features.ts";
import type { Model } from "./model.ts";
import { type Nearest, nearestOf } from "./nearest.ts";
import type { ScoredText } from "./score.ts";

/**
 * Why a text went where it went. `terms`, `concepts`, `other` and `bias` are exact shares of the margin between the
 * best route and the runner-up (of its own score if it is the only one): they sum to it.
 */
export type Why = {
  terms: { term: string; weight: number }[];
  /** Lexicon concepts, marks (`shape`), and what the words mean (`meaning`). */
  concepts: { concept: string; matched: string; weight: number }[];
  other: number;
  bias: number;
  /** The most similar example of the two leading routes: the administrator's by its place, or a built-in one. */
  nearest: Nearest | null;
  runnerUp: string | null;
  margin: number;
  threshold: number;
  /** The kind of task that no route takes and that the text looks like, if it beats the best route. */
  hidden: string | null;
};

type Share = FeatureSource & { weight: number };

const MEANING: FeatureSource = { text: "", concept: "meaning" };
const SHOWN_MAX = 8;
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

/** What each word, concept and mark of the text adds to the margin. */
function sharesOf({ features, vector }: ScoredText, weightOf: (column: number) => number): Share[] {
  const sums = new Map<FeatureSource, number>();
  for (let at = 0; at < vector.ids.length; at++) {
    const source = features.sources[vector.features[at] ?? -1] ?? MEANING;
    const weight = (vector.values[at] ?? 0) * weightOf(vector.ids[at] ?? 0);
    sums.set(source, (sums.get(source) ?? 0) + weight);
  }
  const shares = new Map<string, Share>();
  for (const [source, weight] of sums) {
    const key = `${source.concept ?? ""}\0${source.text}`;
    shares.set(key, { ...source, weight: weight + (shares.get(key)?.weight ?? 0) });
  }
  return [...shares.values()].sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight));
}

/** Explains a decision by exact shares of its margin and by the nearest example. */
export function explain(model: Model, scored: ScoredText, decision: Decision): Why {
  const { best, second, hidden } = decision;
  const scoreOf = (index: number) => (index < 0 ? 0 : (scored.scores[index] ?? 0));
  const margin = rounded(scoreOf(best) - scoreOf(second));
  const facts = {
    runnerUp: model.classes[second]?.name ?? null,
    margin,
    threshold: rounded(model.threshold),
    hidden: hidden >= 0 && scoreOf(hidden) > scoreOf(best) ? (model.classes[hidden]?.name ?? null) : null,
  };
  if (best < 0) return { terms: [], concepts: [], other: 0, bias: 0, nearest: null, ...facts };
  const count = model.classes.length;
  const weightOf = (column: number) => {
    const rival = second < 0 ? 0 : (model.weights[column * count + second] ?? 0);
    return (model.weights[column * count + best] ?? 0) - rival;
  };
  const shares = sharesOf(scored, weightOf).map((share) => ({ ...share, weight: rounded(share.weight) }));
  const terms = shares.filter(({ concept }) => concept === null).slice(0, SHOWN_MAX);
  const concepts = shares.filter(({ concept }) => concept !== null).slice(0, SHOWN_MAX);
  const bias = rounded(weightOf(model.weights.length / count - 1));
  const shown = [...terms, ...concepts].reduce((sum, { weight }) => sum + weight, bias);
  return {
    terms: terms.map(({ text, weight }) => ({ term: text, weight })),
    concepts: concepts.map(({ concept, text, weight }) => ({
      concept: concept ?? "",
      matched: text,
      weight,
    })),
    other: rounded(margin - shown),
    bias,
    nearest: nearestOf(model, scored.vector, decision),
    ...facts,
  };
}
