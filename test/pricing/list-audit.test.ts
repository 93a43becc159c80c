import { expect, test } from "bun:test";
import { findProvider, type ModelInfo, type ModelPrice } from "@pydantic/genai-prices";
import { EXACT_IDS } from "#gateway/pricing/exact-ids.ts";
import { PINNED } from "#gateway/pricing/list-lookup.ts";
import { listedIn } from "#gateway/pricing/price-list.ts";
import type { PriceUnit } from "#gateway/pricing/rate.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";

/** Keys of the list that are read, and the unit that has their price. */
const READ: Readonly<Record<string, PriceUnit>> = {
  input_mtok: "input",
  cache_read_mtok: "cache_read",
  cache_audio_read_mtok: "cache_audio_read",
  cache_write_mtok: "cache_write_5m",
  cache_write_1h_mtok: "cache_write_1h",
  input_audio_mtok: "audio_input",
  input_image_mtok: "image_input",
  output_mtok: "output",
  output_reasoning_mtok: "reasoning",
  output_audio_mtok: "audio_output",
  output_image_mtok: "image_output",
  web_searches_kcount: "web_search",
  storage_searches_kcount: "file_search",
  requests_kcount: "call",
};

/** Read as the price of an hour of transcribed sound. */
const SOUND = new Set(["input_audio_hours"]);

/** Known to be irrelevant, and why. */
const IRRELEVANT: Readonly<Record<string, string>> = {
  audio_hours: "repeats input_audio_hours, or prices speech in real time, which is no surface",
  input_text_messages_kcount: "speech in real time is no surface",
  input_document_kpages: "documents read by the page are no surface",
  input_annotated_document_kpages: "documents read by the page are no surface",
};

/** No usage tells the count: calls with such tokens cost at least their known part. */
const UNCOUNTED: Readonly<Record<string, PriceUnit>> = {
  cache_image_read_mtok: "cache_read",
  output_citation_mtok: "output",
  input_video_mtok: "input",
  output_video_mtok: "output",
};

/** Entries without a price here: the list lacks the price of sound. */
const isWithoutPrice = (id: string, keys: readonly string[]): boolean =>
  /-audio(?:-|$)/.test(id) && !keys.includes("input_audio_mtok");

/** The list lacks the fee of their searches, which no answer counts. */
const searchesUnseen = (id: string): PriceUnit[] => (id.endsWith("-search-preview") ? ["call"] : []);

const AT = Date.parse("2026-11-27T12:00:00Z");
const PRICE_IDS = [
  ...new Set(Object.values(PROVIDERS).flatMap((facts): readonly string[] => facts.priceIds)),
];

/** The keys of a model at any time. */
const keysOf = ({ prices }: ModelInfo): string[] => {
  const all: ModelPrice[] = Array.isArray(prices) ? prices.map((one) => one.prices) : [prices];
  return [...new Set(all.flatMap((one) => Object.keys(one)))];
};

test.each(PRICE_IDS)(
  "each key of each model of the list is read, irrelevant by name, or flagged: %s",
  (priceId) => {
    const models = findProvider({ providerId: priceId })?.models ?? [];
    for (const model of models) {
      const keys = keysOf(model);
      const price = listedIn(PINNED)([priceId], model.id, AT)?.price ?? null;
      if (Object.hasOwn(EXACT_IDS[priceId] ?? {}, model.id)) continue;
      if (isWithoutPrice(model.id, keys)) {
        expect(`${model.id} ${price}`).toBe(`${model.id} null`);
        continue;
      }
      const known = keys.filter(
        (key) => key in READ || key in IRRELEVANT || key in UNCOUNTED || SOUND.has(key),
      );
      expect([model.id, known]).toEqual([model.id, keys]);
      const units = keys.flatMap((key) => READ[key] ?? []).sort();
      expect([model.id, Object.keys(price?.rates ?? {}).sort()]).toEqual([model.id, units]);
      expect([model.id, price?.audioHour !== undefined]).toEqual([
        model.id,
        keys.some((key) => SOUND.has(key)),
      ]);
      const flagged = [...keys.flatMap((key) => UNCOUNTED[key] ?? []), ...searchesUnseen(model.id)].sort();
      expect([model.id, [...(price?.uncounted ?? [])].sort()]).toEqual([model.id, flagged]);
    }
  },
);
