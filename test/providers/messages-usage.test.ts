import { expect, test } from "bun:test";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { WIRES } from "#gateway/providers/wires.ts";

const readingOf = (usage: object) => {
  const answer = { type: "message", model: "claude-opus-4-6", usage: { input_tokens: 1, ...usage } };
  return WIRES.messages.readAnswer(Buffer.from(JSON.stringify(answer)), PROVIDERS.anthropic);
};
const tierOf = (usage: object) => readingOf(usage).serviceTier;

test("what is charged by another list than the usual one is told by the tier: fast mode, and the US alone", () => {
  expect(tierOf({ service_tier: "standard", speed: "fast", inference_geo: "us" })).toBe("fast_us");
  expect(tierOf({ service_tier: "standard", speed: "fast" })).toBe("fast");
  expect(tierOf({ service_tier: "standard", inference_geo: "us" })).toBe("us");
  expect(tierOf({ service_tier: null, inference_geo: "us" })).toBe("us");
  expect(tierOf({ service_tier: "priority", inference_geo: "us" })).toBe("priority_us");
  for (const inference_geo of ["global", "not_available", null, undefined, 1]) {
    expect(tierOf({ service_tier: "standard", inference_geo })).toBe("standard");
  }
});

test("a place or speed that is not known may cost more: what is counted is a lower bound", () => {
  const sourceOf = (usage: object) => readingOf({ output_tokens: 1, ...usage }).usageSource;
  for (const usage of [{ inference_geo: "eu" }, { inference_geo: "US" }, { speed: "turbo" }])
    expect([usage, sourceOf(usage)]).toEqual([usage, "partial"]);
  for (const usage of [
    { inference_geo: "global", speed: "standard" },
    { inference_geo: "", speed: null },
  ])
    expect([usage, sourceOf(usage)]).toEqual([usage, "provider"]);
});

const TOP = { input_tokens: 23_000, output_tokens: 1_000, cache_read_input_tokens: 500 };
const MESSAGE = { type: "message", ...TOP };
const COMPACTION = {
  type: "compaction",
  input_tokens: 180_000,
  output_tokens: 3_500,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 70,
};

test("the tokens of a compaction, which the counts of the whole answer leave out, belong to the call", () => {
  const { usage, usageSource } = readingOf({ ...TOP, iterations: [COMPACTION, MESSAGE] });
  expect([usage.uncachedInputTokens, usage.outputTokens, usageSource]).toEqual([203_000, 4_500, "provider"]);
  expect([usage.cacheReadTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens]).toEqual([
    500,
    70,
    null,
  ]);
  const twice = readingOf({ ...TOP, iterations: [COMPACTION, MESSAGE, COMPACTION, MESSAGE] });
  expect(twice.usage.uncachedInputTokens).toBe(383_000);
  const untold = readingOf({ ...TOP, iterations: [{ ...COMPACTION, input_tokens: null }] });
  expect(untold.usage.uncachedInputTokens).toBeNull();
});

test("iterations of the answer's own are in its counts already", () => {
  for (const iterations of [null, [], [MESSAGE, MESSAGE], "odd", [5, null]]) {
    const { usage, usageSource } = readingOf({ ...TOP, iterations });
    expect([usage.uncachedInputTokens, usageSource]).toEqual([23_000, "provider"]);
  }
});

test("an adviser's tokens have the price of another model: what is counted is a lower bound", () => {
  const adviser = {
    type: "advisor_message",
    model: "claude-opus-4-7",
    input_tokens: 823,
    output_tokens: 531,
  };
  const { usage, usageSource } = readingOf({ ...TOP, iterations: [MESSAGE, adviser, MESSAGE] });
  expect([usage.uncachedInputTokens, usageSource]).toEqual([23_000, "partial"]);
});

test("of a model that took over at the vendor's only its own tokens count, because it has its own price", () => {
  const taker = { type: "fallback_message", model: "claude-opus-4-8", input_tokens: 120, output_tokens: 60 };
  const earlier = { ...MESSAGE, model: "claude-opus-4-8" };
  const declined = { ...MESSAGE, model: "claude-fable-5", output_tokens: 0 };
  const { usage, responseModel, usageSource } = readingOf({ ...TOP, iterations: [declined, earlier, taker] });
  expect([usage.uncachedInputTokens, usage.outputTokens, usage.cacheReadTokens]).toEqual([
    23_120, 1_060, 500,
  ]);
  // Nothing tells whether what was declined is billed.
  expect([responseModel, usageSource]).toEqual(["claude-opus-4-8", "partial"]);
  const alone = readingOf({ ...TOP, iterations: [earlier, taker] });
  expect([alone.usage.uncachedInputTokens, alone.usageSource]).toEqual([23_120, "provider"]);
  const unnamed = readingOf({ ...TOP, iterations: [MESSAGE, { ...taker, model: null }] });
  expect([unnamed.usage.outputTokens, unnamed.responseModel, unnamed.usageSource]).toEqual([
    60,
    "claude-opus-4-6",
    "partial",
  ]);
});
