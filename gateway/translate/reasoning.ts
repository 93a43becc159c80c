import type { Effort, Prompt } from "./prompt.ts";

/** Reasoning up to this many tokens is that effort; more is `high`. */
const BUDGETS: readonly [tokensMax: number, effort: Effort][] = [
  [4_096, "low"],
  [16_384, "medium"],
];

export const effortOfBudget = (tokens: number): Effort =>
  BUDGETS.find(([tokensMax]) => tokens <= tokensMax)?.[1] ?? "high";

/** The effort that a client asks for, in words or as a budget of tokens; null: neither. */
export const effortOf = ({ effort, budgetTokens }: Pick<Prompt["reasoning"], "effort" | "budgetTokens">) =>
  effort?.value ?? (budgetTokens ? effortOfBudget(budgetTokens.value) : null);

/** The same for models that can be told not to reason. */
export const effortOrNone = (reasoning: Prompt["reasoning"]): Effort | null =>
  effortOf(reasoning) ?? (reasoning.off ? "none" : null);
