import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { RequestRow } from "#drizzle/schema/records.ts";
import { spendMetrics } from "#gateway/recorder/spend-metrics.ts";

const call = (changes: Partial<RequestRow>) =>
  ({ provider: "anthropic", model: "claude-x", teams: null, costUsd: null, ...changes }) as RequestRow;

test("money is added up exactly by provider, model and the call's own team", async () => {
  const registry = new Registry();
  const count = spendMetrics(registry);
  for (let i = 0; i < 10; i++) count(call({ costUsd: "0.1", teams: ["web", "product"], inputTokens: 3 }));
  count(call({ costUsd: "0.000000000001", outputTokens: 2 }));
  count(call({ model: "unknown-price", outputTokens: 5 }));
  const text = await registry.metrics();
  // As floating-point numbers the ten would add up to 0.9999999999999999.
  expect(text).toContain('cost_usd_total{provider="anthropic",model="claude-x",team="web"} 1\n');
  expect(text).toContain('cost_usd_total{provider="anthropic",model="claude-x",team="none"} 1e-12\n');
  expect(text).toContain(
    'model_tokens_total{provider="anthropic",model="claude-x",team="web",kind="input"} 30\n',
  );
  expect(text).toContain(
    'model_tokens_total{provider="anthropic",model="unknown-price",team="none",kind="output"} 5\n',
  );
  expect(text).not.toContain("product");
});

test("models that clients make up take a bounded number of series, and lose no money", async () => {
  const registry = new Registry();
  const count = spendMetrics(registry);
  for (let i = 0; i < 2_000; i++) count(call({ model: `made-up-${i}` }));
  count(call({ provider: "openai", model: "gpt-x", costUsd: "1" }));
  for (let i = 0; i < 2_000; i++) count(call({ model: `m-${i}`, costUsd: "0.5" }));
  const text = await registry.metrics();
  expect(text).not.toContain("made-up");
  expect(text).toContain('cost_usd_total{provider="openai",model="gpt-x",team="none"} 1\n');
  expect(text).toContain('cost_usd_total{provider="anthropic",model="other",team="other"} 750.5\n');
  expect(text.match(/^tallygate_cost_usd_total\{/gm)?.length).toBe(501);
});
