import { expect, test } from "bun:test";
import { priceAnswer } from "#gateway/pricing/price-answer.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { NO_USAGE } from "#shared/usage.ts";
import { type BillLine, CONTRACT_BILLS, type ContractBill, type Entered } from "./contract-bills.ts";

const AT = new Date("2026-11-27T12:00:00Z");

const override = (model: string, entered: Entered) => ({
  id: "o1",
  provider: null,
  model,
  effectiveFromMs: 0,
  tier: "standard",
  multiplier: null,
  input: null,
  output: null,
  cachedInput: null,
  cacheWrite5m: null,
  cacheWrite1h: null,
  perImage: null,
  perCharacter: null,
  perCall: null,
  ...entered,
});

/** The sum of the lines by hand: as a fraction of whole numbers, written as a decimal. */
function sumOf(lines: readonly BillLine[]): string {
  let [num, den] = [0n, 1n];
  for (const [count, usd, per] of lines) {
    const [whole = "", decimals = ""] = usd.split(".");
    const below = 10n ** BigInt(decimals.length) * BigInt(per);
    [num, den] = [num * below + BigInt(count) * BigInt(whole + decimals) * den, den * below];
  }
  const digits = ((num * 10n ** 24n) / den).toString().padStart(25, "0");
  return `${digits.slice(0, -24)}.${digits.slice(-24)}`.replace(/\.?0+$/, "");
}

function priced({ kind, asked, answered = asked, tier = "standard", own = [], ...it }: ContractBill) {
  const book = priceBook(
    own.map((entered) => override(asked, entered)),
    PROVIDERS,
  );
  return priceAnswer(book, {
    provider: { kind, name: kind },
    model: asked,
    responseModel: answered,
    serviceTier: tier,
    reportedCostUsd: null,
    variant: it.variant ?? null,
    usage: { ...NO_USAGE, ...it.usage },
    at: AT,
  });
}

test.each(CONTRACT_BILLS.map((it) => [`${it.kind} ${it.asked}: ${it.what} (${it.source})`, it] as const))(
  "%s",
  (_, it) => {
    const { costUsd, atLeast = false, basis, listCostUsd } = priced(it);
    expect(costUsd).toBe(it.bill && sumOf(it.bill));
    expect(atLeast).toBe(it.partial ?? false);
    expect(basis).toBe(it.list === undefined ? undefined : "contract");
    expect(listCostUsd).toBe(it.list === undefined ? undefined : it.list && sumOf(it.list));
  },
);

test("a cost that the provider reports counts before a contract's, with the list's cost beside it", () => {
  const book = priceBook([override("gpt-4o", { input: "2", output: "8" })], PROVIDERS);
  const answered = {
    provider: { kind: "openai", name: "openai" },
    model: "gpt-4o",
    responseModel: null,
    serviceTier: null,
    reportedCostUsd: "0.01",
    usage: { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 0 },
    at: AT,
  } as const;
  expect(priceAnswer(book, answered)).toMatchObject({ costUsd: "0.01", basis: "vendor", listCostUsd: "2.5" });
});

test("a contract's amounts hold where the list's price is not certain", () => {
  const model = "google/gemini-3-flash-preview";
  const answered = {
    provider: { kind: "vertex-openai", name: "vertex", location: "europe-west1" },
    model,
    responseModel: null,
    serviceTier: null,
    reportedCostUsd: null,
    usage: { ...NO_USAGE, uncachedInputTokens: 1000, outputTokens: 0 },
    at: AT,
  } as const;
  const own = priceBook([override(model, { input: "0.4" })], PROVIDERS);
  expect(priceAnswer(own, answered)).toMatchObject({ costUsd: "0.0004", listCostUsd: "0.0005" });
  expect(priceAnswer(own, answered).atLeast).toBeUndefined();
  expect(priceAnswer(priceBook([], PROVIDERS), answered).atLeast).toBe(true);
});
