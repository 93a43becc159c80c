import { describe, expect, test } from "bun:test";
import { findProvider, type MatchLogic } from "@pydantic/genai-prices";
import { EXACT_IDS } from "#gateway/pricing/exact-ids.ts";
import { findListed } from "#gateway/pricing/list-lookup.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import { SHOWN, UNLISTED } from "./vendor-ids.ts";

const NOON = Date.parse("2026-11-27T12:00:00Z");
const book = priceBook([], PROVIDERS);

const entryOf = (kind: ProviderKind, model: string): string | undefined =>
  book.priceOf({ kind, name: kind }, model, NOON)?.entry.replace(/^list:[^/]+\//, "");

describe("an id that a vendor shows has the price of its own entry", () => {
  test.each(SHOWN.map((shown) => [shown.kind, shown.source, shown.ids] as const))(
    "%s: %s",
    (kind, _, ids) => {
      const found = Object.keys(ids).map((id) => [id, entryOf(kind, id)]);
      expect(Object.fromEntries(found)).toEqual(ids);
    },
  );

  test("there are enough of them", () => {
    expect(SHOWN.flatMap(({ ids }) => Object.keys(ids)).length).toBeGreaterThan(150);
  });
});

describe("a name that is no listed model's has no price, however similar", () => {
  test.each(Object.entries(UNLISTED))("%s", (kind, names) => {
    const priced = names.filter((name) => book.knows(kind as ProviderKind, name));
    expect(priced).toEqual([]);
  });

  test("there are enough of them", () => {
    expect(Object.values(UNLISTED).flat().length).toBeGreaterThan(50);
  });
});

const wholeNames = (match: MatchLogic): string[] => {
  if ("or" in match) return match.or.flatMap(wholeNames);
  return "equals" in match ? [match.equals] : [];
};
const PRICE_IDS = [
  ...new Set(Object.values(PROVIDERS).flatMap((facts): readonly string[] => facts.priceIds)),
];

test.each(PRICE_IDS)("each id and whole name of the list leads to its own entry: %s", (priceId) => {
  const models = findProvider({ providerId: priceId })?.models ?? [];
  expect(models.length).toBeGreaterThan(0);
  const corrected = EXACT_IDS[priceId] ?? {};
  for (const model of models) {
    for (const name of [model.id, ...wholeNames(model.match)]) {
      if (Object.hasOwn(corrected, name)) continue;
      expect(`${name}: ${findListed(priceId, name)?.model.id}`).toBe(`${name}: ${model.id}`);
    }
  }
  // An entry that the table names is in the list.
  const ids = new Set(models.map(({ id }) => id));
  expect(Object.values(corrected).filter((id) => id !== null && !ids.has(id))).toEqual([]);
});
