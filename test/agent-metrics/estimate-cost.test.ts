import { describe, expect, test } from "bun:test";
import type { PointKind } from "#drizzle/schema/agent.ts";
import { estimateCost } from "#gateway/agent-metrics/estimate-cost.ts";
import type { Point } from "#gateway/agent-metrics/validate-points.ts";
import type { PriceOverride } from "#gateway/directory.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";

const price = (model: string, more: Partial<PriceOverride> = {}): PriceOverride => ({
  id: "00000000-0000-7000-8000-000000000001",
  provider: null,
  model,
  effectiveFromMs: 0,
  input: "3",
  output: "15",
  cachedInput: "0.3",
  cacheWrite5m: "3.75",
  cacheWrite1h: null,
  perImage: null,
  tier: "standard",
  multiplier: null,
  perCharacter: null,
  perCall: "1",
  ...more,
});
const BOOK = priceBook([price("m"), price("plain", { cachedInput: null, cacheWrite5m: null })], PROVIDERS);

const point = (more: Partial<Point>): Point => ({
  hash: "",
  metric: "gen_ai.client.token.usage",
  kind: "input",
  client: "c",
  tokens: 1_000_000,
  model: "m",
  endedAt: "2026-11-20T12:00:00.000Z",
  ...more,
});
const cost = (more: Partial<Point>) => estimateCost(BOOK, point(more)).costUsd;

test("a million tokens of each kind cost what the price says; parts of an input cost the difference", () => {
  const costs = (
    ["input", "cache_read", "cache_write", "output", "cached_input", "written_input"] as PointKind[]
  ).map((kind) => cost({ kind }));
  expect(costs).toEqual(["3", "0.3", "3.75", "15", "-2.7", "0.75"]);
});

test("a part without a price of its own changes nothing: it is charged as the input that it was told in", () => {
  expect([
    cost({ kind: "cached_input", model: "plain" }),
    cost({ kind: "written_input", model: "plain" }),
  ]).toEqual(["0", "0"]);
});

test.each(["reasoning", "total", "operations", "sessions", "reported_cost", "active_time"] as PointKind[])(
  "%s costs nothing of its own and is not unpriced",
  (kind) => {
    expect(estimateCost(BOOK, point({ kind }))).toEqual({ costUsd: null, price: null, unpriced: false });
  },
);

describe("the price", () => {
  test("is unknown without a model, or of a model that no list has", () => {
    for (const model of [null, "no-such-model"]) {
      expect(estimateCost(BOOK, point({ model }))).toEqual({ costUsd: null, price: null, unpriced: true });
    }
  });

  test("is the list's of the provider named, under its old name and its new one", () => {
    const named = (more: Partial<Point>) =>
      estimateCost(BOOK, point({ model: "gpt-4o", ...more })).price?.entry;
    expect(named({ provider: "openai" })).toBe("list:openai/gpt-4o");
    expect(named({ system: "az.ai.openai" })).toBe("list:azure/gpt-4o");
    expect(named({ provider: "ibm.watsonx.ai" })).toBeUndefined();
    expect(named({})).toBe("list:openai/gpt-4o");
  });

  test("goes by the model that answered, also where the one asked for has a price", () => {
    const found = estimateCost(
      BOOK,
      point({ model: "mistral-large-latest", responseModel: "mistral-large-2411", provider: "mistral_ai" }),
    );
    expect(found.price?.entry).toBe("list:mistral/mistral-large");
  });

  test("goes by the model that answered where the one asked for has none, as with deployments", () => {
    const found = estimateCost(
      BOOK,
      point({ model: "our-deployment", responseModel: "gpt-4o", provider: "azure.ai.openai" }),
    );
    expect(found.price?.entry).toBe("list:azure/gpt-4o");
  });

  test("of a Claude model with the size of its window behind the name is the model's, at the lowest tier", () => {
    const metric = "claude_code.token.usage";
    const plain = estimateCost(BOOK, point({ metric, model: "claude-sonnet-4-5", tokens: 100_000 }));
    const wide = estimateCost(BOOK, point({ metric, model: "claude-sonnet-4-5[1m]" }));
    expect(plain.costUsd).toBe("0.3");
    expect(wide.costUsd).toBe("3");
  });

  test("is Bedrock's where a model has its name there, which Claude Code tells without naming the provider", () => {
    const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    const entry = "list:aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0";
    for (const more of [
      { provider: "aws.bedrock" },
      { system: "aws_bedrock" },
      { metric: "claude_code.token.usage" },
    ]) {
      expect(estimateCost(BOOK, point({ model, ...more })).price?.entry).toBe(entry);
    }
  });

  test("of an administrator is the one in force at the point's own time", () => {
    const later = Date.parse("2026-11-20T12:00:00.001Z");
    const book = priceBook([price("m"), price("m", { input: "9", effectiveFromMs: later })], PROVIDERS);
    expect(estimateCost(book, point({})).costUsd).toBe("3");
    expect(estimateCost(book, point({ endedAt: "2026-11-20T12:00:00.001Z" })).costUsd).toBe("9");
  });
});
