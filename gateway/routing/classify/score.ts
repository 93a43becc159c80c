import type { ClassName } from "./model.ts";

/** How much the strongest hidden class counts against the best route. */
const HIDDEN_SHARE = 0.5;
/** How much a text counts whose features training has all seen, against one of which it has seen none. */
const KNOWN_SHARE = 0.5;

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

/** Decides among decision values. `allowed` names the routes that may be chosen; null allows all. */
export function decide(
  scores: ArrayLike<number>,
  classes: readonly ClassName[],
  known: number,
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
  return { best, second, hidden, score: (scores[best] ?? 0) - against + KNOWN_SHARE * known };
}
