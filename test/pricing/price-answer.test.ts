import { expect, test } from "bun:test";
import { type AnswerToPrice, priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { NO_USAGE } from "#shared/usage.ts";

const book = priceBook([], PROVIDERS);
const answered: AnswerToPrice = {
  provider: { kind: "openai", name: "openai" },
  model: "gpt-4o-mini",
  responseModel: "gpt-4o-mini-2024-07-18",
  serviceTier: "default",
  reportedCostUsd: null,
  usage: { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 1_000_000 },
  at: new Date("2026-11-20T12:00:00Z"),
};

test("an answer is priced by the model that was asked for", () => {
  expect(priceAnswer(book, answered).costUsd).toBe("0.75");
});

test("an alias without a price is priced by the provider's own name for what answered", () => {
  expect(priceAnswer(book, { ...answered, model: "our-alias" }).costUsd).toBe("0.75");
  expect(priceAnswer(book, { ...answered, model: "our-alias", responseModel: null }).costUsd).toBeNull();
});

test("a service tier that is priced apart leaves the answer unpriced, never at the standard price", () => {
  for (const serviceTier of ["fallback", "scale"]) {
    expect(priceAnswer(book, { ...answered, serviceTier }).costUsd).toBeNull();
  }
  for (const serviceTier of [null, "default", "standard", "auto", "on_demand"]) {
    expect(priceAnswer(book, { ...answered, serviceTier }).costUsd).toBe("0.75");
  }
});

test("an answer that was made in the US alone costs 1.1 times the list, and an administrator's price as it is", () => {
  const claude: AnswerToPrice = {
    ...answered,
    provider: { kind: "anthropic", name: "anthropic" },
    model: "claude-opus-4-6",
    responseModel: null,
    usage: { ...answered.usage, cacheReadTokens: 1_000_000, webSearches: 1 },
  };
  expect(priceAnswer(book, { ...claude, serviceTier: "standard" }).costUsd).toBe("30.51");
  const within = priceAnswer(book, { ...claude, serviceTier: "us" });
  expect(within.costUsd).toBe("33.56");
  expect(within.price?.entry).toBe("list:anthropic/claude-opus-4-6 (US)");
  const own = { provider: null, model: "claude-opus-4-6", effectiveFromMs: 0, input: "1", output: "2" };
  const standard = { tier: "standard", multiplier: null };
  const none = { cacheWrite5m: null, cacheWrite1h: null, perImage: null, perCharacter: null, perCall: null };
  const entered = priceBook([{ id: "o1", ...own, ...none, ...standard, cachedInput: "0.1" }], PROVIDERS);
  expect(priceAnswer(entered, { ...claude, serviceTier: "us" }).costUsd).toBe("3.11");
});
