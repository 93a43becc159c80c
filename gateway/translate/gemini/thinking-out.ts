import type { Effort, Prompt } from "../prompt.ts";
import { effortOrNone } from "../reasoning.ts";

/** Gemini 3 and later, which names such as `gemini-flash-latest` mean today. */
export const GEMINI_3 = /(?:^|\/)gemini-(?:[3-9]|\d\d|[a-z-]*latest$)/;
/** Thinking is by level since Gemini 3, by a budget of tokens in 2.5, and not there before. Source: ai.google.dev, "Thinking". */
const BY_BUDGET = /(?:^|\/)gemini-2\.5-/;
const IMAGES = /-image/;

const LEVELS = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const satisfies Record<Effort, string>;

/** As Google's own address in OpenAI's format translates an effort. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
const BUDGET_MAX = 24_576;
/** The least of a model that cannot answer without thinking. */
const PRO_BUDGET_MIN = 128;

/** How much to think, and whether to show the thoughts; null where the client asks for neither, or the model cannot think. */
export function thinkingConfig({ reasoning }: Prompt, model: string): object | null {
  const { effort, budgetTokens, shown } = reasoning;
  if (IMAGES.test(model) || !(GEMINI_3.test(model) || BY_BUDGET.test(model))) {
    effort?.at.drop();
    return null;
  }
  const told = shown ? { includeThoughts: true } : {};
  const amount = GEMINI_3.test(model)
    ? levelOf(reasoning, model)
    : budgetOf(budgetTokens ? null : effortOrNone(reasoning), budgetTokens?.value);
  if (amount === null) return shown ? told : null;
  if (typeof amount === "string") return { thinkingLevel: amount, ...told };
  const least = model.includes("-pro") ? PRO_BUDGET_MIN : 0;
  return { thinkingBudget: Math.max(least, amount), ...told };
}

/** Pro models know no minimal level. */
function levelOf(reasoning: Prompt["reasoning"], model: string): string | null {
  const asked = effortOrNone(reasoning);
  const level = asked && LEVELS[asked];
  if (!level || !model.includes("-pro")) return level;
  if (level === "minimal") return "low";
  return level === "medium" && /gemini-3-pro/.test(model) ? "high" : level;
}

function budgetOf(effort: Effort | null, tokens: number | undefined): number | null {
  if (tokens !== undefined) return Math.min(tokens, BUDGET_MAX);
  return effort === null ? null : BUDGETS[effort];
}
