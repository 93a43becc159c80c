import { expect, test } from "bun:test";
import { findProvider } from "@pydantic/genai-prices";
import type { PriceOverride } from "#gateway/directory.ts";
import { priceCall } from "#gateway/pricing/price.ts";
import { priceBook } from "#gateway/pricing/price-book.ts";
import { PRICE_LIST, priceListAt, withHourWrites } from "#gateway/pricing/price-list.ts";
import { isPricedFor } from "#gateway/pricing/priced-for.ts";
import { PLACES, ratePer } from "#gateway/pricing/rate.ts";
import { PROVIDERS, type ProviderKind } from "#gateway/providers/catalog.ts";
import type { ProviderFacts } from "#gateway/providers/provider-facts.ts";
import { parseDecimal } from "#shared/decimal.ts";
import { NO_USAGE } from "#shared/usage.ts";

const NOON = Date.parse("2026-11-20T12:00:00Z");
const list = priceBook([], PROVIDERS);

const override = (fields: Partial<PriceOverride>): PriceOverride => ({
  id: "o1",
  provider: null,
  model: "gpt-4o",
  effectiveFromMs: 0,
  input: "1",
  output: "2",
  cachedInput: null,
  cacheWrite5m: null,
  cacheWrite1h: null,
  perImage: null,
  tier: "standard",
  multiplier: null,
  perCharacter: null,
  perCall: null,
  ...fields,
});

const entryAt = (overrides: PriceOverride[], provider = "openai", atMs = NOON) =>
  priceBook(overrides, PROVIDERS).priceOf({ kind: "openai", name: provider }, "gpt-4o", atMs)?.entry;

test("the built-in list says its date, and warns once it is older than 30 days", () => {
  const after = (days: number) => priceListAt(Date.parse(PRICE_LIST.published) + days * 86_400_000).warning;
  expect(after(30)).toBeNull();
  expect(after(31)).toStartWith("The price list is 31 days old");
});

test("a model of the built-in list is found by the name that the provider is called with, dated or not", () => {
  expect(list.priceOf({ kind: "openai", name: "openai" }, "gpt-4o", NOON)?.entry).toBe("list:openai/gpt-4o");
  expect(list.priceOf({ kind: "openai", name: "any name" }, "gpt-4o-2024-08-06", NOON)?.entry).toBe(
    "list:openai/gpt-4o",
  );
  expect(list.priceOf({ kind: "azure", name: "azure" }, "gpt-4o", NOON)?.entry).toBe("list:azure/gpt-4o");
  expect(list.priceOf({ kind: "openai", name: "openai" }, "no-such-model", NOON)).toBeNull();
});

test("a kind without a list has no price but an administrator's", () => {
  expect(list.priceOf({ kind: "ollama", name: "ollama" }, "gpt-4o", NOON)).toBeNull();
  expect(
    priceBook([override({})], PROVIDERS).priceOf({ kind: "ollama", name: "ollama" }, "gpt-4o", NOON)?.entry,
  ).toBe("override:o1");
});

test("an administrator's price wins over the list once it has begun", () => {
  const from = override({ effectiveFromMs: NOON });
  expect(entryAt([from], "openai", NOON - 1)).toBe("list:openai/gpt-4o");
  expect(entryAt([from], "openai", NOON)).toBe("override:o1");
});

test("of several that have begun, the newest wins, and one for the very provider before one for any", () => {
  const any = override({ id: "any", effectiveFromMs: 300 });
  const old = override({ id: "old", provider: "openai", effectiveFromMs: 100 });
  const newer = override({ id: "newer", provider: "openai", effectiveFromMs: 200 });
  const other = override({ id: "other", provider: "azure", effectiveFromMs: 400 });
  for (const overrides of [
    [any, old, newer, other],
    [other, newer, old, any],
  ]) {
    expect(entryAt(overrides)).toBe("override:newer");
    expect(entryAt(overrides, "second")).toBe("override:any");
    expect(entryAt(overrides, "openai", 150)).toBe("override:old");
  }
});

test("an administrator's amounts are USD per million tokens, and USD per piece for the rest", () => {
  const book = priceBook(
    [
      override({
        input: "2.50",
        cachedInput: "0.5",
        perImage: "0.04",
        perCharacter: "0.000015",
        perCall: "0.01",
      }),
    ],
    PROVIDERS,
  );
  const rates = book.priceOf({ kind: "ollama", name: "ollama" }, "gpt-4o", NOON)?.rates;
  expect(
    Object.fromEntries(Object.entries(rates ?? {}).map(([unit, rate]) => [unit, rate.usdPerUnit])),
  ).toEqual({
    input: "0.0000025",
    output: "0.000002",
    cache_read: "0.0000005",
    image: "0.04",
    character: "0.000015",
    call: "0.01",
  });
});

test("beside an administrator's price, a search of the web costs what the list says, never nothing", () => {
  const book = priceBook([override({})], PROVIDERS);
  const usage = { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 0, webSearches: 3 };
  expect(priceCall(book.priceOf({ kind: "openai", name: "openai" }, "gpt-4o", NOON), usage).costUsd).toBe(
    "1.03",
  );
});

test("a model made for sound whose sound the list does not price has no price, rather than that of text", () => {
  expect(
    list.priceOf({ kind: "openai", name: "openai" }, "gpt-audio", NOON)?.rates.audio_input?.usdPerUnit,
  ).toBe("0.000032");
  expect(list.priceOf({ kind: "openai", name: "openai" }, "gpt-4o-audio-preview", NOON)).toBeNull();
  expect(list.knows("openai", "gpt-4o-audio-preview")).toBe(true);
});

test("searches of the web that the list does not price or that nobody counts make a cost a lower bound", () => {
  const usage = { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 0 };
  const research = list.priceOf({ kind: "openai", name: "openai" }, "o3-deep-research", NOON);
  expect(priceCall(research, usage).costUsd).toBe("10");
  expect(priceCall(research, { ...usage, webSearches: 0 }).costUsd).toBe("10");
  expect(priceCall(research, { ...usage, webSearches: 0 }).atLeast).toBeUndefined();
  expect(priceCall(research, { ...usage, webSearches: 1 })).toMatchObject({ costUsd: "10", atLeast: true });
  for (const model of ["gpt-4o-search-preview", "gpt-4o-mini-search-preview-2025-03-11"]) {
    const price = list.priceOf({ kind: "openai", name: "openai" }, model, NOON);
    expect(priceCall(price, usage)).toMatchObject({ atLeast: true });
  }
  const own = priceBook([override({ model: "gpt-4o-search-preview", perCall: "0.035" })], PROVIDERS);
  expect(
    priceCall(own.priceOf({ kind: "openai", name: "openai" }, "gpt-4o-search-preview", NOON), usage).costUsd,
  ).toBe("1.035");
});

test("an administrator's price that is no decimal is refused", () => {
  expect(() => priceBook([override({ input: "NaN" })], PROVIDERS)).toThrow(RangeError);
});

test("a price that changes by date or time of day is that of the call's moment", () => {
  const input = (kind: ProviderKind, model: string, at: string) =>
    list.priceOf({ kind, name: kind }, model, Date.parse(at))?.rates.input?.usdPerUnit;
  expect(input("deepseek", "deepseek-chat", "2026-11-20T00:29:59Z")).toBe("0.000000135");
  expect(input("deepseek", "deepseek-chat", "2026-11-20T00:30:00Z")).toBe("0.00000027");
  expect(input("deepseek", "deepseek-chat", "2026-11-20T16:30:00Z")).toBe("0.000000135");
  expect(input("openai", "o3", "2025-06-09T23:59:59Z")).toBe("0.00001");
  expect(input("openai", "o3", "2025-06-10T00:00:00Z")).toBe("0.000002");
});

const usd = (text: string, aboveTier: string | null = null) =>
  ratePer(parseDecimal(text), PLACES.one, aboveTier === null ? [] : [[200_000, parseDecimal(aboveTier)]]);

test("hour-long cache writes cost twice the input where the list tells only the price of shorter ones", () => {
  const rates = { input: usd("0.000003", "0.000006"), cache_write_5m: usd("0.00000375") };
  const hour = withHourWrites({ entry: "e", rates }).rates.cache_write_1h;
  expect(hour).toEqual(usd("0.000006", "0.000012"));
  const told = { entry: "e", rates: { ...rates, cache_write_1h: usd("0.00000375") } };
  expect(withHourWrites(told)).toBe(told);
  expect(withHourWrites({ entry: "e", rates: { input: rates.input } }).rates.cache_write_1h).toBeUndefined();
});

test("hour-long cache writes have a rate for the Anthropic models", () => {
  const rates = list.priceOf({ kind: "anthropic", name: "anthropic" }, "claude-sonnet-4-5", NOON)?.rates;
  expect(rates?.cache_write_1h).toEqual(usd("0.000006", "0.000012"));
});

test("tokens of images that a model prices apart cost at least what text costs where they were not counted apart", () => {
  const price = list.priceOf({ kind: "gemini", name: "gemini" }, "gemini-2.5-flash-image", NOON);
  const usage = { ...NO_USAGE, uncachedInputTokens: 1000, outputTokens: 1000, imageInputTokens: 0 };
  expect(priceCall(price, usage)).toMatchObject({ costUsd: "0.0028", atLeast: true });
  const told = priceCall(price, { ...usage, imageOutputTokens: 1000 });
  expect([told.costUsd, told.atLeast]).toEqual(["0.0303", undefined]);
});

test("an administrator's multiple is of the list's price where the model runs", () => {
  const book = priceBook(
    [override({ model: "gpt-5.4", input: null, output: null, multiplier: "0.9" })],
    PROVIDERS,
  );
  const usage = { ...NO_USAGE, uncachedInputTokens: 1000, outputTokens: 1000, fileSearches: 1 };
  const cost = (location: string | null) =>
    priceCall(book.priceOf({ kind: "openai", name: "openai", location }, "gpt-5.4", NOON), usage).costUsd;
  // (2.5 + 15) x 0.9, in the EU x 1.1, and the fee of a search as it is.
  expect([cost(null), cost("eu")]).toEqual(["0.01825", "0.019825"]);
});

test("sound that is billed by the second has a price on the surfaces of sound alone", () => {
  const price = list.priceOf({ kind: "openai", name: "openai" }, "whisper-1", NOON);
  expect(
    (["audio.transcriptions", "audio.translations", "chat.completions"] as const).map((surface) =>
      isPricedFor(surface, price),
    ),
  ).toEqual([true, true, false]);
});

test("the built-in provider has a price, so that the first report shows money", () => {
  const usage = { ...NO_USAGE, uncachedInputTokens: 1_000_000, outputTokens: 1_000_000 };
  expect(list.knows("echo", "echo")).toBe(true);
  expect(priceCall(list.priceOf({ kind: "echo", name: "echo" }, "echo", NOON), usage).costUsd).toBe("3");
  expect(["gpt-4o", "constructor", "__proto__"].map((model) => list.knows("echo", model))).toEqual([
    false,
    false,
    false,
  ]);
});

test("a cloud's list prices a model only at the address that serves it", () => {
  const CLAUDE = "claude-sonnet-4-5@20250929";
  const prices = ([kind, model]: [ProviderKind, string]) => list.priceOf({ kind, name: kind }, model, NOON);
  const served: [ProviderKind, string][] = [
    ["vertex", CLAUDE],
    ["vertex-openai", "google/gemini-2.5-flash"],
    ["gemini", "models/gemini-2.5-flash"],
    ["gemini", "gemini-embedding-001"],
    ["bedrock-mantle", "anthropic.claude-opus-4-6-v1"],
  ];
  expect(served.map(prices)).not.toContain(null);
  const elsewhere: [ProviderKind, string][] = [
    ["gemini", CLAUDE],
    ["gemini", "claude-sonnet-4-5"],
    ["vertex-openai", CLAUDE],
    ["vertex", "gemini-2.5-flash"],
    ["bedrock-openai", "anthropic.claude-opus-4-6-v1"],
  ];
  expect(elsewhere.map(prices)).toEqual(elsewhere.map(() => null));
});

test("limits tell the context where the list knows it", () => {
  expect(list.limits("openai", "gpt-4o")).toEqual({ contextTokens: 128_000 });
  expect(list.limits("openai", "no-such-model")).toEqual({ contextTokens: null });
});

test("a model's name that is no model's name is unknown, and costs no memory", () => {
  expect(list.knows("openai", "gpt-4o".padEnd(100_000, "x"))).toBe(false);
  for (let index = 0; index < 10_000; index += 1) list.knows("openai", `unknown-${index}`);
  expect(list.knows("openai", "gpt-4o")).toBe(true);
});

test("every id that the catalogue names is in the price list, and its kind knows models of it", () => {
  const unknown = Object.entries(PROVIDERS).flatMap(([kind, { priceIds }]: [string, ProviderFacts]) =>
    priceIds.filter(
      (id) =>
        !findProvider({ providerId: id })?.models.some((model) => list.knows(kind as ProviderKind, model.id)),
    ),
  );
  expect(unknown).toEqual([]);
});
