import type { ClassName, Model } from "./model.ts";

/** How much the strongest hidden class counts against the best route. */
const HIDDEN_SHARE = 0.5;
/** How much a text counts whose features training has all seen, against one of which it has seen none. */
const KNOWN_SHARE = 0.5;
/** How much the built-in knowledge counts that a text is of a kind that routes take, against one that none takes. */
const TAKEN_SHARE = 1.5;
/** How far the strongest of several kinds stands for all of them. */
const SHARPNESS = 4;

/** Classes: of the best route (−1: none may be chosen), of the route after it, the strongest hidden class, and the score to compare with the threshold. */
export type Decision = { best: number; second: number; hidden: number; score: number };

/** The highest of the classes that `admits`, by decision value; −1 where there is none. */
function leader(scores: ArrayLike<number>, admits: (index: number) => boolean): number {
  let best = -1;
  for (let index = 0; index < scores.length; index++) {
    if (admits(index) && (best < 0 || (scores[index] ?? 0) > (scores[best] ?? 0))) best = index;
  }
  return best;
}

/** The maximum, smoothed so that several high values count more than one. */
function soft(values: readonly number[]): number {
  const high = Math.max(...values);
  const sum = values.reduce((total, value) => total + Math.exp(SHARPNESS * (value - high)), 0);
  return high + Math.log(sum) / SHARPNESS;
}

/**
 * How much more a text looks like kinds that the allowed routes take than like those that none of them does; 0 where
 * kinds cannot tell. They are told by the starter, which has not seen the routes' examples: beside those its own
 * built-in ones look alike, and any real text like a route's.
 */
function takenOf(
  takers: Model["takers"],
  kinds: ArrayLike<number>,
  allowed: ReadonlySet<string> | null,
): number {
  const isTaken = takers.map((names) => names.some((name) => allowed === null || allowed.has(name)));
  if (isTaken.every((taken) => taken === isTaken[0])) return 0;
  const scoresOf = (taken: boolean) => isTaken.flatMap((it, at) => (it === taken ? [kinds[at] ?? 0] : []));
  return soft(scoresOf(true)) - soft(scoresOf(false));
}

/** What is known of a text: a decision value per class, how much of it training has seen (0 to 1), a score per kind. */
export type Told = { scores: ArrayLike<number>; known: number; kinds: ArrayLike<number> };

/** Decides among decision values. `allowed` names the routes that may be chosen; null allows all. */
export function decide(
  { classes, takers }: Pick<Model, "classes" | "takers">,
  { scores, known, kinds }: Told,
  allowed: ReadonlySet<string> | null,
): Decision {
  const mayChoose = ({ kind, name }: ClassName) =>
    kind === "route" && (allowed === null || allowed.has(name));
  const choices = classes.map(mayChoose);
  const best = leader(scores, (at) => choices[at] === true);
  const second = leader(scores, (at) => choices[at] === true && classes[at]?.name !== classes[best]?.name);
  const hidden = leader(scores, (at) => classes[at]?.kind === "hidden");
  if (best < 0) return { best, second, hidden, score: Number.NEGATIVE_INFINITY };
  const against = hidden < 0 ? 0 : HIDDEN_SHARE * (scores[hidden] ?? 0);
  const support = KNOWN_SHARE * known + TAKEN_SHARE * takenOf(takers, kinds, allowed);
  return { best, second, hidden, score: (scores[best] ?? 0) - against + support };
}
