import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceText, readPrice } from "#drizzle/price-text.ts";
import { LIST_PREFIX } from "#gateway/pricing/rate.ts";

const snapshot = {
  entry: "list:openai/gpt-4o-mini",
  rows: [
    { unit: "input", count: 17, usdPerUnit: "0.00000015" },
    { unit: "output", count: 55, usdPerUnit: "0.0000006" },
  ],
};

test("a price is one short text beside its record", () => {
  expect(priceText(snapshot)).toBe("input 17 0.00000015|output 55 0.0000006|list:openai/gpt-4o-mini");
  expect(priceText({ ...snapshot, rows: [], repricedAt: "2026-11-22T09:00:00.000Z" })).toBe(
    "repriced 2026-11-22T09:00:00.000Z|list:openai/gpt-4o-mini",
  );
});

test("what is stored is read as it was, and so is the object of earlier versions", () => {
  const digits = fc.integer({ min: 0, max: 999_999_999 }).map((n) => `0.${n}`);
  const row = fc.record({
    unit: fc.constantFrom("input", "cache_write_1h", "call"),
    count: fc.maxSafeInteger(),
    usdPerUnit: digits,
  });
  const any = fc.record(
    {
      entry: fc.string().map((name) => `${LIST_PREFIX}${name}`),
      rows: fc.array(row),
      repricedAt: fc.constant("2026-11-22T09:00:00.000Z"),
    },
    { requiredKeys: ["entry", "rows"] },
  );
  fc.assert(fc.property(any, (given) => void expect(readPrice(priceText(given))).toEqual(given)));
  expect(readPrice(null)).toBeNull();
});
