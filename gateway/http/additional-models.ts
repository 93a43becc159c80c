import type { JsonBody } from "../call.ts";
import { isBuiltInTool } from "./deciding-names.ts";
import { valueAt } from "./json-value.ts";

/** A model that the provider chooses: whether a key may use it cannot be checked in advance. */
const PROVIDERS_CHOICE = null;

/** Models requested besides `model`: fallbacks (`fallbacks`, `models`) and tools' models. Null: the provider chooses. */
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

/** A function's `parameters` are a schema; only those of a provider's built-in tool can name a model. */
function toolModels(tool: unknown): string[] {
  const own = textOf(memberOf(tool, "model"));
  return isBuiltInTool(memberOf(tool, "type"))
    ? [...own, ...textOf(memberOf(memberOf(tool, "parameters"), "model"))]
    : own;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string[] => (typeof value === "string" ? [value] : []);
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
