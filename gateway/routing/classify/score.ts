import type { ClassName } from "./model.ts";

/** How much the strongest hidden class counts against the best route. */
const HIDDEN_SHARE = 0.5;

/** The best route (−1: none may be chosen), the one after it, the strongest hidden class, and the score to compare with the threshold. */
export type Decision = { best: number; second: number; hidden: number; score: number };

/** The two highest of the classes that `admits`, by decision value; −1 where there is none. */
function leaders(
  scores: ArrayLike<number>,
  admits: (index: number) => boolean,
): [best: number, second: number] {
  let [best, second] = [-1, -1];
  for (let index = 0; index < scores.length; index++) {
    if (!admits(index)) continue;
    const score = scores[index] ?? 0;
    if (best < 0 || score > (scores[best] ?? 0)) [best, second] = [index, best];
    else if (second < 0 || score > (scores[second] ?? 0)) second = index;
  }
  return [best, second];
}

/** Decides among decision values. `allowed` names the routes that may be chosen; null allows all. */
export function decide(
  scores: ArrayLike<number>,
  classes: readonly ClassName[],
  allowed: ReadonlySet<string> | null,
): Decision {
  const mayChoose = (name: string) => allowed === null || allowed.has(name);
  const [best, second] = leaders(scores, (at) => {
    const one = classes[at];
    return one?.kind === "route" && mayChoose(one.name);
  });
  const [hidden] = leaders(scores, (at) => classes[at]?.kind === "hidden");
  if (best < 0) return { best, second, hidden, score: Number.NEGATIVE_INFINITY };
  const against = hidden < 0 ? 0 : HIDDEN_SHARE * (scores[hidden] ?? 0);
  return { best, second, hidden, score: (scores[best] ?? 0) - against };
}
