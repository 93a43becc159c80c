import type { JsonBody } from "../call.ts";
import { valueAt } from "./scan.ts";

/** A model that the provider chooses: nobody can say beforehand whether a key may use it. */
const PROVIDERS_CHOICE = null;

/**
 * The models that a body asks for besides its `model`: to take over (Anthropic's `fallbacks`, OpenRouter's `models`), to
 * advise, or to draw (a tool's `model`). Null stands for one that the provider chooses.
 */
export function additionalModels(body: JsonBody): (string | null)[] {
  const named = (name: string): unknown[] =>
    (body.members.get(name) ?? []).map((place) => valueAt(body.bytes, place));
  return [
    ...named("fallbacks").flatMap(fallbackModels),
    ...named("models").flatMap(listOf).flatMap(textOf),
    ...named("tools").flatMap(listOf).flatMap(toolModels),
  ];
}

function fallbackModels(fallbacks: unknown): (string | null)[] {
  if (typeof fallbacks === "string") return [PROVIDERS_CHOICE];
  return listOf(fallbacks).flatMap((one) => [...textOf(one), ...textOf(memberOf(one, "model"))]);
}

/** A function's parameters describe what it takes, so only those of a provider's own tool name a model. */
function toolModels(tool: unknown): string[] {
  const own = textOf(memberOf(tool, "model"));
  const type = memberOf(tool, "type");
  const vendors = typeof type === "string" && type !== "function" && type !== "custom";
  return vendors ? [...own, ...textOf(memberOf(memberOf(tool, "parameters"), "model"))] : own;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string[] => (typeof value === "string" ? [value] : []);
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
