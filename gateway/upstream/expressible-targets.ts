import type { Call, Choice } from "../call.ts";
import { inexpressibleFor } from "./translation.ts";

/**
 * The choice without the targets that cannot express the call: a fallback must not turn a provider's refusal into one
 * that says that the call is wrong (decision: Fallbacks only before the first byte). If none can, the first is left, and
 * refuses when it is called.
 */
export function withExpressibleTargets(call: Call, choice: Choice): Choice {
  if (choice.targets.length === 1) return choice;
  const { route } = choice;
  const [first, ...rest] = choice.targets.filter(
    (target) => inexpressibleFor(call, { target, route }) === null,
  );
  return { ...choice, targets: first ? [first, ...rest] : [choice.targets[0]] };
}
