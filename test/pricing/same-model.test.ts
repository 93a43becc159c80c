import { expect, test } from "bun:test";
import { isSameModel, priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { NO_USAGE } from "#shared/usage.ts";

test.each([
  ["gpt-4o", "gpt-4o-2024-08-06"],
  ["gpt-4o-2024-08-06", "gpt-4o"],
  ["GPT-4o", "gpt-4o"],
  ["claude-opus-4-6", "claude-opus-4-6-20260205"],
  ["claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"],
  ["us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-20250514"],
  ["claude-sonnet-4@20250514", "claude-sonnet-4-20250514"],
  ["openai/gpt-4o:free", "gpt-4o-2024-08-06"],
  ["text-embedding-ada-002", "text-embedding-ada-002-v2"],
  ["mistral-large-latest", "mistral-large-2411"],
  ["grok-4", "grok-4-0709"],
  ["gemini-2.5-flash", "models/gemini-2.5-flash-preview-05-20"],
  ["llama3", "llama3:latest"],
])("%s may be answered as %s", (asked, answered) => {
  expect(isSameModel(asked, answered)).toBe(true);
});

test.each([
  ["cheap", "dear"],
  ["gpt-4o", "gpt-4o-mini"],
  ["gpt-4o-mini", "gpt-4o-mini-high-2024-08-06"],
  ["gpt-4o-2024-05-13", "gpt-4o-2024-08-06"],
  ["claude-sonnet-4", "claude-sonnet-4-5"],
  ["claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929"],
  ["gpt-5", "gpt-5.1"],
  ["o1", "o1-preview"],
  ["llama3:8b", "llama3:70b"],
])("%s is not the model %s", (asked, answered) => {
  expect(isSameModel(asked, answered)).toBe(false);
});

test("an answer of another model is priced by it, or by the one asked for if only that has a price", () => {
  const book = priceBook([], PROVIDERS);
  const answered = {
    provider: { kind: "openai", name: "openai" },
    model: "gpt-4o-mini",
    serviceTier: null,
    reportedCostUsd: null,
    usage: { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 0 },
    at: new Date("2026-11-20T12:00:00Z"),
  } as const;
  expect(priceAnswer(book, { ...answered, responseModel: "gpt-4o-2024-08-06" }).costUsd).toBe("2.5");
  expect(priceAnswer(book, { ...answered, responseModel: "a-local-name" }).costUsd).toBe("0.15");
});
