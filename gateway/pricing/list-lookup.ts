import { findProvider, type MatchLogic, type ModelInfo, type Provider } from "@pydantic/genai-prices";
import type { ListedChange } from "../directory.ts";
import { EXACT_IDS } from "./exact-ids.ts";
import { isSameVersion, type ModelName, modelNameOf } from "./model-name.ts";

/** A model of the list, with its later prices, the first ones first. */
type ListModel = ModelInfo & { later: readonly { fromMs: number; prices: ModelInfo["prices"] }[] };

type Names = {
  models: readonly ListModel[];
  /** By the exact name in lower case; null: known to have no entry. */
  exact: ReadonlyMap<string, ListModel | null>;
  families: ReadonlyMap<string, readonly (ModelName & { model: ListModel })[]>;
};

export type NamesOf = (priceId: string) => Names;

/** Those of the built-in list with changes, read at the first question. */
export function namesWith(changes: readonly ListedChange[]): NamesOf {
  const known: Record<string, Names> = {};
  return (priceId) =>
    (known[priceId] ??= readNames(
      priceId,
      changes.filter(({ provider }) => provider === priceId),
    ));
}

/** The built-in list. */
export const PINNED = namesWith([]);

type ListMatch = { provider: Provider; model: ListModel };

/**
 * The list's entry of a model. A price is never guessed: of the list's matching only whole names count (its ids and
 * `equals`), because its patterns give a new model the price of an older one. Besides, a name may have `-latest`, the
 * host's prefix and version (model-name.ts), or a date, unless the list has another date of that family.
 */
export function findListed(priceId: string, name: string, namesOf = PINNED): ListMatch | null {
  const provider = findProvider({ providerId: priceId });
  if (!provider) return null;
  for (const id of [priceId, ...(provider.fallback_model_providers ?? [])]) {
    const model = findIn(namesOf(id), name, priceId);
    if (model !== undefined) return model && { provider, model };
  }
  return null;
}

function findIn({ exact, families }: Names, name: string, priceId: string): ListModel | null | undefined {
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
export function hasOtherDates(priceId: string, name: string, namesOf = PINNED): boolean {
  const { family, date } = modelNameOf(priceId, name);
  const dates = (namesOf(priceId).families.get(family) ?? []).map((one) => one.date);
  return date !== null && !dates.includes(date) && dates.some((other) => other !== null);
}

/** Models of the built-in list stay as they are, but for names and later prices; models that it lacks are added. */
function modelsWith(pinned: readonly ModelInfo[], changes: readonly ListedChange[]): ListModel[] {
  const added = changes.filter(({ fromMs }) => fromMs === null).map(({ entry }) => entry);
  const all = new Map([...added, ...pinned].map((model) => [model.id, model]));
  return [...all.values()].map((model) => {
    const own = changes.filter(({ entry }) => entry.id === model.id);
    const later = own.flatMap(({ fromMs, entry: { prices } }) =>
      fromMs === null ? [] : [{ fromMs, prices }],
    );
    const match = { or: [model.match, ...own.map(({ entry }) => entry.match)] };
    return { ...model, match, later: later.sort((a, b) => a.fromMs - b.fromMs) };
  });
}

function readNames(priceId: string, changes: readonly ListedChange[]): Names {
  const models = modelsWith(findProvider({ providerId: priceId })?.models ?? [], changes);
  const listed = models.flatMap((model) =>
    [model.id, ...wholeNames(model.match)].map((name) => [name.toLowerCase(), model] as const),
  );
  const added = Object.entries(EXACT_IDS[priceId] ?? {}).map(
    ([name, id]) => [name, models.find((model) => model.id === id) ?? null] as const,
  );
  const exact = new Map<string, ListModel | null>([...listed.toReversed(), ...added]);
  const parsed = [...exact].flatMap(([name, model]) =>
    model ? [{ ...modelNameOf(priceId, name), model }] : [],
  );
  return { models, exact, families: Map.groupBy(parsed, ({ family }) => family) };
}

/** The names that a match has as a whole. */
export const wholeNames = (match: MatchLogic): string[] => {
  if ("or" in match) return match.or.flatMap(wholeNames);
  return "equals" in match ? [match.equals] : [];
};
