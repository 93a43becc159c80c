import { probabilityOf } from "./calibration.ts";
import { decide, scoreText } from "./decide.ts";
import { explain, type Why } from "./explain.ts";
import type { Model } from "./model.ts";

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

/**
 * Classifies a text among the allowed routes (null: all) and says why. Deterministic; keeps nothing. The same
 * decision as `routeOf`.
 */
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
