import { objectIn, textIn } from "./exact-json.ts";

/** Arguments as the object that most formats want. Text of a model that is no JSON object stays readable in one. */
export function argumentsObject(text: string): object {
  if (/^\s*(?:null\s*)?$/.test(text)) return {};
  return objectIn(text) ?? { arguments: text };
}

/** The text of a custom tool's call, which is a function with one argument elsewhere. */
export const customInput = (text: string): string => textIn(objectIn(text), "input") ?? text;
