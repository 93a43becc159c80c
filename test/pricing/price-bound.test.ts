import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceCall } from "#gateway/pricing/price.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { priceBound } from "#gateway/pricing/price-bound.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { isOver, parseDecimal } from "#shared/decimal.ts";
import { inputTokens, NO_USAGE } from "#shared/usage.ts";

const AT = Date.parse("2026-11-21T12:00:00Z");
const book = priceBook([], PROVIDERS);

const MODELS = [
  ["openai", "gpt-4o"],
  ["openai", "gpt-audio"],
  ["anthropic", "claude-sonnet-4-5"],
  ["gemini", "gemini-2.5-pro"],
  ["gemini", "gemini-2.5-flash"],
  ["echo", "echo"],
] as const;

const count = fc.integer({ min: 0, max: 400_000 });
const usages = fc.record({
  uncachedInputTokens: count,
  cacheReadTokens: count,
  cacheWrite5mTokens: count,
  cacheWrite1hTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  audioInputTokens: count,
  audioOutputTokens: count,
});

test.each(MODELS)("no call of %s/%s within the counts costs more than the bound", (kind, model) => {
  const entry = book.priceOf({ kind, name: kind }, model, AT);
  expect(entry).not.toBeNull();
  fc.assert(
    fc.property(usages, count, count, (counts, moreIn, moreOut) => {
      const usage = { ...NO_USAGE, ...counts };
      const bound = {
        inputTokens: (inputTokens(usage) ?? 0) + moreIn,
        outputTokens: counts.outputTokens + moreOut,
        images: 0,
        characters: 0,
        documents: 1,
      };
      const { costUsd } = priceCall(entry, usage);
      const most = priceBound(entry, bound);
      expect(costUsd !== null && most !== null && isOver(parseDecimal(costUsd), most)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("without a price there is no bound", () => {
  const bound = { inputTokens: 1, outputTokens: 1, images: 0, characters: 0, documents: 1 };
  expect(priceBound(null, bound)).toBeNull();
});
