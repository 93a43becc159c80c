import { expect, test } from "bun:test";
import { type Answered, priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { NO_USAGE } from "#shared/usage.ts";

const book = priceBook([], PROVIDERS);
const answered: Answered = {
  provider: { kind: "openai", name: "openai" },
  model: "gpt-4o-mini",
  responseModel: "gpt-4o-mini-2024-07-18",
  serviceTier: "default",
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
  for (const serviceTier of ["flex", "priority", "fast", "scale", "batch"]) {
    expect(priceAnswer(book, { ...answered, serviceTier }).costUsd).toBeNull();
  }
  for (const serviceTier of [null, "default", "standard", "auto", "on_demand"]) {
    expect(priceAnswer(book, { ...answered, serviceTier }).costUsd).toBe("0.75");
  }
});
