import { words } from "#shared/words.ts";
import type { ProviderObject } from "../../providers/provider-json.ts";
import { echoModel, jsonAnswer } from "./text.ts";

const CATEGORIES = words(`
  harassment harassment/threatening hate hate/threatening illicit illicit/violent
  self-harm self-harm/instructions self-harm/intent sexual sexual/minors violence violence/graphic
`);

const everywhere = <T>(value: T) => Object.fromEntries(CATEGORIES.map((category) => [category, value]));

const FOUND_NOTHING = {
  flagged: false,
  categories: everywhere(false),
  category_scores: everywhere(0),
  category_applied_input_types: everywhere([]),
};

/** The built-in provider's moderation: it has the vendor's shape and never flags anything. */
export function echoModerations(body: ProviderObject, id: string): Response {
  const { input } = body;
  const texts = Array.isArray(input) && input.every((one) => typeof one === "string") ? input.length : 1;
  return jsonAnswer({
    id: `modr-echo-${id}`,
    model: echoModel(body),
    results: Array.from({ length: texts }, () => FOUND_NOTHING),
  });
}
