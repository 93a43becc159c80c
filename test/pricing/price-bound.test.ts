import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceCall } from "#gateway/pricing/price.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { priceBound } from "#gateway/pricing/price-bound.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { formatDecimal, isOver, parseDecimal } from "#shared/decimal.ts";
import { inputTokens, NO_USAGE } from "#shared/usage.ts";

const AT = Date.parse("2026-11-21T12:00:00Z");
const book = priceBook([], PROVIDERS);

const MODELS = [
  ["openai", "gpt-4o", null],
  ["openai", "gpt-image-1.5", null],
  ["openai", "gpt-5.6-sol", "eu"],
  ["vertex", "claude-opus-4-6", "europe-west1"],
  ["openai", "gpt-audio", null],
  ["anthropic", "claude-sonnet-4-5", null],
  ["gemini", "gemini-2.5-pro", null],
  ["gemini", "gemini-2.5-flash", null],
  ["gemini", "gemini-2.5-flash-image", null],
  ["echo", "echo", null],
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
  cacheReadAudioTokens: fc.option(count, { nil: null }),
  imageInputTokens: fc.option(count, { nil: null }),
  imageOutputTokens: fc.option(count, { nil: null }),
});

test.each(MODELS)("no call of %s/%s within the counts costs more than the bound", (kind, model, location) => {
  const entry = book.priceOf({ kind, name: kind, location }, model, AT);
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
        soundSeconds: 0,
      };
      const { costUsd } = priceCall(entry, usage);
      const most = priceBound(entry, bound);
      expect(costUsd !== null && most !== null && isOver(parseDecimal(costUsd), most)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test("the bound of a model that costs more in its place is higher", () => {
  const most = (location: string | null) =>
    priceBound(book.priceOf({ kind: "openai", name: "openai", location }, "gpt-5.4", AT), {
      inputTokens: 1_000_000,
      outputTokens: 0,
      images: 0,
      characters: 0,
      documents: 1,
      soundSeconds: 0,
    });
  expect([most(null), most("eu")].map((usd) => usd && formatDecimal(usd))).toEqual(["5", "5.5"]);
});

test("without a price there is no bound", () => {
  const bound = { inputTokens: 1, outputTokens: 1, images: 0, characters: 0, documents: 1, soundSeconds: 0 };
  expect(priceBound(null, bound)).toBeNull();
});

test("sound is bounded by its seconds at the price of an hour", () => {
  const counts = { inputTokens: 0, outputTokens: 0, images: 0, characters: 0, documents: 1 };
  const most = priceBound(book.priceOf({ kind: "openai", name: "openai" }, "whisper-1", AT), {
    ...counts,
    soundSeconds: 600,
  });
  // USD 0.006 a minute.
  expect(most && formatDecimal(most)).toBe("0.06");
});
