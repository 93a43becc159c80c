import { findProvider, type MatchLogic, type ModelInfo, type Provider } from "@pydantic/genai-prices";
import { EXACT_IDS } from "./exact-ids.ts";
import { isSameVersion, type ModelName, modelNameOf } from "./model-name.ts";

/** The names that one provider of the list gives its models. */
type Names = {
  /** By the exact name in lower case; null: known to have no entry. */
  exact: ReadonlyMap<string, ModelInfo | null>;
  families: ReadonlyMap<string, readonly (ModelName & { model: ModelInfo })[]>;
};

export type ListMatch = { provider: Provider; model: ModelInfo };

/**
 * The list's entry of a model. A price is never guessed: of the list's matching only whole names count (its ids and
 * `equals`), because its patterns give a new model the price of an older one. Besides, a name may have `-latest`, the
 * host's prefix and version (model-name.ts), or a date, unless the list has another date of that family.
 */
export function findListed(priceId: string, name: string): ListMatch | null {
  const provider = findProvider({ providerId: priceId });
  if (!provider) return null;
  for (const id of [priceId, ...(provider.fallback_model_providers ?? [])]) {
    const model = findIn(namesOf(id), name, priceId);
    if (model !== undefined) return model && { provider, model };
  }
  return null;
}

function findIn({ exact, families }: Names, name: string, priceId: string): ModelInfo | null | undefined {
  const known = exact.get(name.toLowerCase());
  if (known !== undefined) return known;
  const { family, date, version } = modelNameOf(priceId, name);
  const bare = exact.get(date === null ? family : `${family}-${date}`);
  if (bare !== undefined) return bare;
  const relatives = families.get(family) ?? [];
  const dates = relatives.filter((one) => one.date !== null);
  const wanted = date !== null && dates.length > 0 ? date : null;
  return relatives.find((one) => one.date === wanted && isSameVersion(one.version, version))?.model;
}

/** Whether the list has models of the name's family with dates, but none with its date. */
export function hasOtherDates(priceId: string, name: string): boolean {
  const { family, date } = modelNameOf(priceId, name);
  const dates = (namesOf(priceId).families.get(family) ?? []).map((one) => one.date);
  return date !== null && !dates.includes(date) && dates.some((other) => other !== null);
}

const NAMES: Record<string, Names> = {};

/** Built at the first question; the list is pinned. */
const namesOf = (priceId: string): Names => (NAMES[priceId] ??= readNames(priceId));

function readNames(priceId: string): Names {
  const models = findProvider({ providerId: priceId })?.models ?? [];
  const listed = models.flatMap((model) =>
    [model.id, ...wholeNames(model.match)].map((name) => [name.toLowerCase(), model] as const),
  );
  const added = Object.entries(EXACT_IDS[priceId] ?? {}).map(
    ([name, id]) => [name, models.find((model) => model.id === id) ?? null] as const,
  );
  const exact = new Map<string, ModelInfo | null>([...listed.toReversed(), ...added]);
  const parsed = [...exact].flatMap(([name, model]) =>
    model ? [{ ...modelNameOf(priceId, name), model }] : [],
  );
  return { exact, families: Map.groupBy(parsed, ({ family }) => family) };
}

const wholeNames = (match: MatchLogic): string[] => {
  if ("or" in match) return match.or.flatMap(wholeNames);
  return "equals" in match ? [match.equals] : [];
};
