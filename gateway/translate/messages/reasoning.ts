import { lose } from "../members.ts";
import type { Effort, Prompt, PromptTurn } from "../prompt.ts";
import { claudeFacts } from "./claude-models.ts";

/** Tokens of reasoning for an effort, where a model takes a budget: at least 1,024, and less than the whole answer. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none" | "minimal">, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 49_152,
};
const BUDGET_MIN = 1_024;

export type Reasoning = { thinking: object | null; effort: Effort | null };

const NONE: Reasoning = { thinking: null, effort: null };

/** How a model is asked to reason. Newer models take an effort also where they may not think aloud. */
export function reasoningOf(prompt: Prompt, model: string, maxTokens: number): Reasoning {
  const { effort } = prompt.reasoning;
  if (!effort || effort.value === "none" || effort.value === "minimal") return NONE;
  const thinks = !isForced(prompt) && !hasUnsignedCalls(prompt.turns);
  if (!claudeFacts(model).budgeted) {
    return { thinking: thinks ? { type: "adaptive" } : null, effort: effort.value };
  }
  if (!thinks) {
    effort.at.drop();
    return NONE;
  }
  if (maxTokens <= BUDGET_MIN) {
    lose(effort.at, `reasoning needs an output limit of more than ${BUDGET_MIN} tokens`);
    return NONE;
  }
  const budget_tokens = Math.max(BUDGET_MIN, Math.min(BUDGETS[effort.value], Math.floor(maxTokens / 2)));
  return { thinking: { type: "enabled", budget_tokens }, effort: null };
}

/** A model that must call a tool cannot think first. */
const isForced = ({ toolChoice }: Prompt): boolean =>
  toolChoice?.value.kind === "any" || toolChoice?.value.kind === "tool";

/** Whether the turn under way has calls, but none of the signed thoughts that the vendor expects before them. */
function hasUnsignedCalls(turns: readonly PromptTurn[]): boolean {
  const asked = turns.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some(({ kind }) => kind !== "result"),
  );
  const said = turns.slice(asked + 1).flatMap(({ role, parts }) => (role === "assistant" ? parts : []));
  const isSigned = said.some(
    (part) => part.kind === "redacted" || (part.kind === "thinking" && Boolean(part.signature)),
  );
  return !isSigned && said.some(({ kind }) => kind === "call");
}
