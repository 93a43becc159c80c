import type { Model } from "./model.ts";
import { type Nearest, nearestOf } from "./nearest.ts";
import type { Decision } from "./score.ts";
import type { ScoredInDetail } from "./scored.ts";
import { sharesOf, textOf } from "./shares.ts";

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

const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

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
  const { terms, concepts, total } = sharesOf(model, scored, decision);
  const count = model.classes.length;
  const biasAt = (model.weights.length / count - 1) * count;
  const rival = second < 0 ? 0 : (model.weights[biasAt + second] ?? 0);
  const bias = rounded((model.weights[biasAt + best] ?? 0) - rival);
  const shown = [...terms, ...concepts].reduce((sum, { weight }) => sum + rounded(weight), bias);
  return {
    terms: terms.map((share) => ({ term: textOf(share), weight: rounded(share.weight) })),
    concepts: concepts.map((share) => ({
      concept: share.concept ?? "",
      matched: textOf(share),
      weight: rounded(share.weight),
    })),
    other: rounded(total - (shown - bias)),
    bias,
    nearest: nearestOf(model, scored.vector, decision),
    ...facts,
  };
}
