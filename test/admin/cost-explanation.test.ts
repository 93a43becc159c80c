import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceText } from "#drizzle/price-text.ts";
import { explainCost } from "#gateway/admin/cost-explanation.ts";
import { priceCall } from "#gateway/pricing/price.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import type { RecordRow } from "#gateway/stores/requests.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { NO_USAGE } from "#shared/usage.ts";

const count = fc.option(fc.integer({ min: 0, max: 2_000_000_000 }), { nil: null });
const price = fc
  .tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(9, "0")}`);

test("the lines of an explanation add up to the cost, to the last digit", () => {
  const usage = fc.record({
    uncachedInputTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    outputTokens: count,
    images: count,
  });
  const rates = fc.record({ input: price, output: price, cachedInput: price, perImage: price });
  fc.assert(
    fc.property(usage, rates, (used, rate) => {
      const book = priceBook(
        [
          {
            id: "p",
            provider: null,
            model: "m",
            effectiveFromMs: 0,
            tier: "standard",
            multiplier: null,
            cacheWrite5m: null,
            cacheWrite1h: null,
            perCharacter: null,
            perCall: null,
            ...rate,
          },
        ],
        PROVIDERS,
      );
      const priced = priceCall(book.priceOf({ kind: "openai", name: "p" }, "m", 1), { ...NO_USAGE, ...used });
      if (priced.costUsd === null) return true;
      const stored = priced.price && priceText(priced.price);
      const row = { ...priced, price: stored, usageSource: "provider", channel: "api" } as RecordRow;
      const { rows } = explainCost(row, []);
      const sum = rows.reduce((all, { usd }) => plus(all, parseDecimal(usd)), ZERO);
      expect(formatDecimal(sum)).toBe(formatDecimal(parseDecimal(priced.costUsd)));
      return true;
    }),
  );
});
