import type { Target } from "../call.ts";
import type { Guardrail } from "../directory.ts";
import type { ModelCallInput } from "./evaluate.ts";
import { textsOf } from "./text.ts";

/** The rules that the fields after a form's first file may make match. */
export const lateRules = (
  rules: readonly Guardrail[],
  matched: { has(rule: string): boolean },
): readonly Guardrail[] =>
  rules.filter((rule) => !matched.has(rule.name) && (readsTexts(rule) || rule.fitsModel !== null));

const readsTexts = ({ pattern, detect, callout }: Guardrail): boolean =>
  pattern !== null || detect !== null || callout !== null;

/** What rules are asked of such fields: with a `model` among them, all of the call, else only them. */
export function withLateFields(
  input: ModelCallInput,
  fields: readonly (readonly [name: string, text: string])[],
): ModelCallInput {
  const [, model = null] = fields.find(([name]) => name === "model") ?? [];
  const late = textsOf(fields);
  if (model === null) return { ...input, texts: () => late };
  const named = (target: Target): Target => ({ ...target, model: target.model ?? model });
  const [first, ...others] = input.choice.targets;
  const targets: [Target, ...Target[]] = [named(first), ...others.map(named)];
  return { ...input, choice: { ...input.choice, targets }, texts: () => [...input.texts(), ...late] };
}
