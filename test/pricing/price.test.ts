import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceCall } from "#gateway/pricing/price.ts";
import { PLACES, type PriceEntry, type Rates, ratePer } from "#gateway/pricing/rate.ts";
import { UNPRICED } from "#gateway/reading.ts";
import { formatDecimal, parseDecimal, plus, times, ZERO } from "#shared/decimal.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";

const million = (usd: string) => ratePer(parseDecimal(usd), PLACES.million);
const each = (usd: string) => ratePer(parseDecimal(usd), PLACES.one);
const entry = (rates: Rates): PriceEntry => ({ entry: "test", rates });
const used = (usage: Partial<Usage>): Usage => ({ ...NO_USAGE, ...usage });

const TOKENS = entry({ input: million("3"), output: million("15") });

test("cost is counts times rates, and the rows add up to it", () => {
  const { costUsd, tokenCostUsd, price } = priceCall(
    TOKENS,
    used({ uncachedInputTokens: 10, outputTokens: 7 }),
  );
  expect({ costUsd, tokenCostUsd }).toEqual({ costUsd: "0.000135", tokenCostUsd: "0.000135" });
  expect(price).toEqual({
    entry: "test",
    rows: [
      { unit: "input", count: 10, usdPerUnit: "0.000003" },
      { unit: "output", count: 7, usdPerUnit: "0.000015" },
    ],
  });
});

test("no price means that nobody knows the cost", () => {
  expect(priceCall(null, used({ uncachedInputTokens: 10, outputTokens: 7 }))).toEqual(UNPRICED);
});

test("a count that was not told is never taken for 0", () => {
  expect(priceCall(TOKENS, NO_USAGE)).toEqual(UNPRICED);
  expect(priceCall(TOKENS, used({ uncachedInputTokens: 10 }))).toEqual(UNPRICED);
  expect(priceCall(TOKENS, used({ outputTokens: 7 }))).toEqual(UNPRICED);
});

test("a free model costs 0 where its usage was told, and is unknown where it was not", () => {
  const free = entry({ input: million("0"), output: million("0") });
  expect(priceCall(free, used({ uncachedInputTokens: 10, outputTokens: 7 })).costUsd).toBe("0");
  expect(priceCall(free, NO_USAGE)).toEqual(UNPRICED);
});

test("cache reads and writes without a rate of their own are charged as input, hour writes as other writes first", () => {
  const usage = used({
    uncachedInputTokens: 1,
    cacheReadTokens: 2,
    cacheWrite5mTokens: 4,
    cacheWrite1hTokens: 8,
    outputTokens: 0,
  });
  expect(priceCall(TOKENS, usage).costUsd).toBe("0.000045");
  const writes = entry({ ...TOKENS.rates, cache_write_5m: million("4") });
  expect(priceCall(writes, usage).costUsd).toBe("0.000057");
});

test("audio and reasoning leave input and output only where they have a rate", () => {
  const usage = used({
    uncachedInputTokens: 100,
    audioInputTokens: 60,
    outputTokens: 50,
    audioOutputTokens: 20,
    reasoningTokens: 10,
  });
  expect(priceCall(TOKENS, usage).costUsd).toBe("0.00105");
  const apart = entry({
    ...TOKENS.rates,
    audio_input: million("30"),
    audio_output: million("60"),
    reasoning: million("5"),
  });
  // 40 x 3 + 60 x 30 + 20 x 15 + 10 x 5 + 20 x 60, per million
  expect(priceCall(apart, usage).costUsd).toBe("0.00347");
});

test("a tier holds for the whole call once its input, cached input included, exceeds the bound", () => {
  const tiered = (base: string, over: string) =>
    ratePer(parseDecimal(base), PLACES.million, [[200_000, parseDecimal(over)]]);
  const price = entry({
    input: tiered("3", "6"),
    cache_read: tiered("0.3", "0.6"),
    output: tiered("15", "22.5"),
  });
  const cost = (uncached: number) =>
    priceCall(price, used({ uncachedInputTokens: uncached, cacheReadTokens: 100_000, outputTokens: 10 }))
      .costUsd;
  expect(cost(100_000)).toBe("0.33015");
  expect(cost(100_001)).toBe("0.660231");
});

test("pieces are priced by what was returned, and are not token money", () => {
  const images = entry({ input: million("0"), output: million("0"), image: each("0.04") });
  expect(priceCall(images, used({ images: 3 }))).toMatchObject({ costUsd: "0.12", tokenCostUsd: "0" });
  expect(priceCall(images, used({ images: 0 })).costUsd).toBe("0");
  expect(priceCall(images, NO_USAGE)).toEqual(UNPRICED);
  const speech = entry({ input: million("0"), output: million("0"), character: each("0.000015") });
  expect(priceCall(speech, used({ characters: 1000 })).costUsd).toBe("0.015");
});

test("who bills by the piece and tells no tokens does not bill tokens", () => {
  const both = entry({ ...TOKENS.rates, image: each("0.04") });
  expect(priceCall(both, used({ images: 1 })).costUsd).toBe("0.04");
  expect(priceCall(both, used({ images: 1, uncachedInputTokens: 10, outputTokens: 7 })).costUsd).toBe(
    "0.040135",
  );
});

test("a price per call is added to every call whose usage is known", () => {
  const perCall = entry({ ...TOKENS.rates, call: each("0.005") });
  expect(priceCall(perCall, used({ uncachedInputTokens: 10, outputTokens: 7 })).costUsd).toBe("0.005135");
  expect(priceCall(perCall, NO_USAGE)).toEqual(UNPRICED);
  const only = entry({ input: million("0"), output: million("0"), call: each("0.002") });
  expect(priceCall(only, used({ documents: 12 })).costUsd).toBe("0.002");
});

test("web searches are priced by use", () => {
  const searching = entry({ ...TOKENS.rates, web_search: each("0.01") });
  expect(
    priceCall(searching, used({ uncachedInputTokens: 0, outputTokens: 0, webSearches: 3 })),
  ).toMatchObject({
    costUsd: "0.03",
    tokenCostUsd: "0",
  });
});

const count = fc.option(fc.nat({ max: 2_147_483_647 }), { nil: null });
const usages = fc.record({
  uncachedInputTokens: count,
  cacheReadTokens: count,
  cacheWrite5mTokens: count,
  cacheWrite1hTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  audioInputTokens: count,
  audioOutputTokens: count,
  images: count,
  characters: count,
  documents: count,
  searchUnits: count,
  webSearches: count,
  imageInputTokens: count,
  imageOutputTokens: count,
  searchSources: count,
  cacheReadAudioTokens: count,
  fileSearches: count,
});
const usd = fc.nat({ max: 100_000 }).map((it) => million((it / 1000).toString()));
const prices = fc
  .record(
    {
      input: usd,
      output: usd,
      cache_read: usd,
      cache_write_5m: usd,
      cache_write_1h: usd,
      audio_input: usd,
      audio_output: usd,
      reasoning: usd,
      image: usd,
      call: usd,
    },
    { requiredKeys: [] },
  )
  .map(entry);

test("every cost is the exact sum of its rows, and no row has a negative count", () => {
  fc.assert(
    fc.property(prices, usages, (price, usage) => {
      const priced = priceCall(price, usage);
      if (!priced.price) return expect(priced).toEqual(UNPRICED);
      const sum = priced.price.rows.reduce(
        (total, row) => plus(total, times(parseDecimal(row.usdPerUnit), row.count)),
        ZERO,
      );
      expect(formatDecimal(sum)).toBe(priced.costUsd ?? "");
      expect(priced.price.rows.every((row) => row.count > 0)).toBe(true);
    }),
  );
});
