import type { ClassName } from "./model.ts";

/** How much the strongest hidden class counts against the best route. */
const HIDDEN_SHARE = 0.5;

/** The best route (−1: none may be chosen), the one after it, the strongest hidden class, and the score to compare with the threshold. */
export type Decision = { best: number; second: number; hidden: number; score: number };

/** Decides among decision values. `allowed` names the routes that may be chosen; null allows all. */
export function decide(
  scores: ArrayLike<number>,
  classes: readonly ClassName[],
  allowed: ReadonlySet<string> | null,
): Decision {
  let [best, second, hidden] = [-1, -1, -1];
  const valueOf = (index: number) => (index < 0 ? Number.NEGATIVE_INFINITY : (scores[index] ?? 0));
  for (const [index, { kind, name }] of classes.entries()) {
    if (kind === "hidden") {
      if (valueOf(index) > valueOf(hidden)) hidden = index;
    } else if (allowed === null || allowed.has(name)) {
      if (valueOf(index) > valueOf(best)) [best, second] = [index, best];
      else if (valueOf(index) > valueOf(second)) second = index;
    }
  }
  return { best, second, hidden, score: valueOf(best) - (hidden < 0 ? 0 : HIDDEN_SHARE * valueOf(hidden)) };
}
