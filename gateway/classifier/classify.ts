import { probabilityOf } from "./calibration.ts";
import { type Decision, decide, type ScoredText, scoreText } from "./decide.ts";
import type { FeatureSource } from "./features.ts";
import type { Model } from "./model.ts";
import { rowDot, type SparseVector, squaredLength } from "./sparse.ts";

/** The result of classifying a text. `route` is null below the threshold: the caller's default route answers. */
export type Classification = {
  route: string | null;
  /** The likeliest allowed route, whatever the threshold; null if no route may be chosen. */
  best: string | null;
  /** 0 to 1: the estimated chance that `candidates[0]` is right. */
  confidence: number;
  reason: string;
  /** Words and cues in the text that favour the first candidate, strongest first. */
  matched: string[];
  /** Allowed routes with their decision values, best first. */
  candidates: { route: string; score: number }[];
  why: Why;
};

const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

export type Verdict = Pick<Classification, "route" | "best" | "confidence">;

/** The route and the confidence without an explanation, for calls with `model: "auto"`. */
export function routeOf(model: Model, text: string, allowed: ReadonlySet<string> | null): Verdict {
  const { best, score } = decide(model, scoreText(model, text), allowed);
  const confidence = best < 0 ? 0 : rounded(probabilityOf(model.sigmoid, score));
  const name = model.classes[best]?.name ?? null;
  return { route: score >= model.threshold ? name : null, best: name, confidence };
}

type Found = { best: string | undefined; certain: boolean; confidence: number };

function reasonOf(model: Model, why: Why, { best, certain, confidence }: Found): string {
  if (best === undefined) return "no route may be chosen";
  const lead = why.runnerUp === null ? "the only route" : `${why.margin.toFixed(2)} ahead of ${why.runnerUp}`;
  if (certain) return `classified as ${best}: ${lead}`;
  const like = why.hidden === null ? "" : `; it looks like ${why.hidden}, which no route covers`;
  const threshold = probabilityOf(model.sigmoid, model.threshold).toFixed(2);
  return `confidence ${confidence.toFixed(2)} for ${best} is below ${threshold}${like}`;
}

/** Classifies a text among the allowed routes (null: all) and says why. Deterministic; the same decision as `routeOf`. */
export function classify(model: Model, text: string, allowed: ReadonlySet<string> | null): Classification {
  const scored = scoreText(model, text, true);
  const decision = decide(model, scored, allowed);
  const confidence = decision.best < 0 ? 0 : rounded(probabilityOf(model.sigmoid, decision.score));
  const certain = decision.best >= 0 && decision.score >= model.threshold;
  const why = explain(model, scored, decision);
  const best = model.classes[decision.best]?.name;
  const candidates = candidatesOf(model, scored.scores, { allowed, best });
  return {
    route: certain ? (best ?? null) : null,
    best: best ?? null,
    confidence,
    reason: reasonOf(model, why, { best, certain, confidence }),
    matched: matchedOf(why),
    candidates,
    why,
  };
}

/** Each allowed route once, with its highest decision value. The chosen route comes first. */
function candidatesOf(
  model: Model,
  scores: Float64Array,
  { allowed, best }: { allowed: ReadonlySet<string> | null; best: string | undefined },
) {
  const highest = new Map<string, number>();
  for (const [index, { kind, name }] of model.classes.entries()) {
    if (kind === "hidden" || (allowed !== null && !allowed.has(name))) continue;
    highest.set(name, Math.max(highest.get(name) ?? Number.NEGATIVE_INFINITY, scores[index] ?? 0));
  }
  return [...highest]
    .map(([route, score]) => ({ route, score: rounded(score) }))
    .sort((a, b) => b.score - a.score || Number(b.route === best) - Number(a.route === best));
}

const MATCHED_MAX = 8;
function matchedOf({ concepts, terms }: Why): string[] {
  const found = [
    ...concepts.map(({ matched, weight }) => ({ text: matched, weight })),
    ...terms.map(({ term, weight }) => ({ text: term, weight })),
  ];
  const positive = found
    .filter(({ text, weight }) => weight > 0 && text !== "")
    .sort((a, b) => b.weight - a.weight);
  return [...new Set(positive.map(({ text }) => text))].slice(0, MATCHED_MAX);
}

/**
 * Why a text was sent to its route. `terms`, `concepts`, `other` and `bias` are exact shares of the margin between the
 * best route and the runner-up (of its own score if it is the only one): they sum to it.
 */
type Why = {
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

type Share = Pick<FeatureSource, "text" | "concept"> & { weight: number };

const SHOWN_MAX = 8;

/** What each word, word pair, concept and mark of the text adds to the margin, and what its meaning adds. */
function sharesOf({ features, vector }: ScoredText, weightOf: (column: number) => number): Share[] {
  const meaning: Share = { text: "", concept: "meaning", weight: 0 };
  const shares = new Map<number, Share>();
  for (let at = 0; at < vector.ids.length; at++) {
    const weight = (vector.values[at] ?? 0) * weightOf(vector.ids[at] ?? 0);
    const source = features.sources[vector.features[at] ?? -1];
    // A signed 32-bit key: others are looked up several times slower.
    const share = source ? shares.get(source.id | 0) : meaning;
    if (share) share.weight += weight;
    else if (source) shares.set(source.id | 0, { text: source.text, concept: source.concept, weight });
  }
  return meaning.weight === 0 ? [...shares.values()] : [...shares.values(), meaning];
}

/** The shares of greatest absolute weight, rounded. */
function strongest(shares: readonly Share[], admits: (share: Share) => boolean): Share[] {
  const found: Share[] = [];
  for (const share of shares) {
    const size = Math.abs(share.weight);
    if (!admits(share) || (found.length === SHOWN_MAX && size <= Math.abs(found.at(-1)?.weight ?? 0)))
      continue;
    const place = found.findIndex(({ weight }) => Math.abs(weight) < size);
    found.splice(place < 0 ? found.length : place, 0, share);
    if (found.length > SHOWN_MAX) found.pop();
  }
  return found.map((share) => ({ ...share, weight: rounded(share.weight) }));
}

/** Explains a decision by exact shares of its margin and by the nearest example. */
function explain(model: Model, scored: ScoredText, decision: Decision): Why {
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
  const shares = sharesOf(scored, weightOf);
  const terms = strongest(shares, ({ concept }) => concept === null);
  const concepts = strongest(shares, ({ concept }) => concept !== null);
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

/** An example that a text resembles. `similarity`: the cosine, to four digits. */
type Nearest = { route: string; exampleId: string; similarity: number };

/** The example of the two leading routes that is most similar to a text; null if none has anything in common with it. */
function nearestOf(model: Model, vector: SparseVector, { best, second }: Decision): Nearest | null {
  const { rows, classOf, ids } = model.nearest;
  const leading = new Set([model.classes[best]?.name, model.classes[second]?.name]);
  const isLeading = model.classes.map(({ name }) => leading.has(name));
  const dense = new Float32Array(rows.width);
  for (let at = 0; at < vector.ids.length; at++) dense[vector.ids[at] ?? 0] = vector.values[at] ?? 0;
  let nearest = -1;
  let product = 0;
  for (let row = 0; row < rows.count; row++) {
    if (!isLeading[classOf[row] ?? -1]) continue;
    const found = rowDot(rows, row, dense);
    if (found > product) [nearest, product] = [row, found];
  }
  if (nearest < 0) return null;
  const cosine = product / Math.sqrt(squaredLength(vector));
  return {
    route: model.classes[classOf[nearest] ?? -1]?.name ?? "",
    exampleId: ids[nearest] ?? "",
    similarity: rounded(cosine),
  };
}
