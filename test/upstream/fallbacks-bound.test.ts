import { expect, test } from "bun:test";
import { PLACES, type PriceEntry, ratePer } from "#gateway/pricing/rate.ts";
import { fallbacksBound } from "#gateway/upstream/fallbacks-bound.ts";
import { formatDecimal, parseDecimal } from "#shared/decimal.ts";

const BOUND = {
  inputTokens: 1000,
  outputTokens: 100,
  images: 0,
  characters: 0,
  documents: 1,
  soundSeconds: 0,
};
const entry = (input: string, output: string): PriceEntry => ({
  entry: "list:test",
  rates: {
    input: ratePer(parseDecimal(input), PLACES.million),
    output: ratePer(parseDecimal(output), PLACES.million),
  },
});
const PRICES: Record<string, PriceEntry> = {
  "opus standard": entry("5", "25"),
  "opus fast": entry("10", "50"),
  "haiku standard": entry("1", "5"),
};
const bound = (fallbacks: unknown) => {
  const most = fallbacksBound(fallbacks, BOUND, (model, tier) => PRICES[`${model} ${tier}`] ?? null);
  return most && formatDecimal(most);
};

test("each model that may take over may bill the whole call", () => {
  expect(bound(undefined)).toBe("0");
  expect(bound([])).toBe("0");
  expect(bound([{ model: "opus" }])).toBe("0.0075");
  expect(bound([{ model: "opus" }, { model: "haiku", max_tokens: 1000 }])).toBe("0.0135");
  expect(bound([{ model: "opus", speed: "fast", max_tokens: 1 }])).toBe("0.015");
});

test("models that nobody names, or that have no price, have no bound", () => {
  for (const fallbacks of [
    "default",
    {},
    [{}],
    [{ model: "unknown" }],
    [{ model: "haiku", speed: "fast" }],
  ]) {
    expect(bound(fallbacks)).toBeNull();
  }
});
