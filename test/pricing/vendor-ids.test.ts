import { describe, expect, test } from "bun:test";
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
