import type { ProviderKind } from "#gateway/providers/catalog.ts";
import type { WireName } from "#gateway/surface-facts.ts";

/** `count` units at `usd` for each `per` of them. */
export type BillLine = readonly [count: number, usd: string, per: number];

/** An answer of a vendor, and what it bills for it by its own published prices. */
export type VendorsBill = {
  /** What is billed. */
  what: string;
  /** The page with the price, and the day on which it was read. */
  source: string;
  kind: ProviderKind;
  wire: WireName;
  model: string;
  location?: string;
  /** The answer; a list is the events of a stream. */
  answer: object;
  /** Null: no price is published, so that no cost is known. */
  bill: readonly BillLine[] | null;
  /** Something is billed besides that no figure tells: the sum is a lower bound. */
  partial?: true;
};

const MTOK = 1_000_000;
const CHAT_TOKENS = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
const chat = (model: string, more: object = {}, usage: object = {}) => ({
  object: "chat.completion",
  model,
  choices: [{ index: 0, message: { role: "assistant", content: "Rain." }, finish_reason: "stop" }],
  usage: { ...CHAT_TOKENS, ...usage },
  ...more,
});
const gemini = (modelVersion: string, usageMetadata: object, candidate: object = {}) => ({
  responseId: "r1",
  modelVersion,
  candidates: [
    { content: { role: "model", parts: [{ text: "Rain." }] }, finishReason: "STOP", ...candidate },
  ],
  usageMetadata,
});
const GEMINI_TOKENS = { promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: 1500 };

const GEMINI_PRICES = "ai.google.dev/gemini-api/docs/pricing, 2026-10-07";

const TIERS: readonly VendorsBill[] = [
  {
    what: "Gemini's flex tier: half, cached tokens at the standard price",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: gemini("gemini-2.5-flash", {
      ...GEMINI_TOKENS,
      cachedContentTokenCount: 400,
      serviceTier: "flex",
    }),
    bill: [
      [600, "0.15", MTOK],
      [400, "0.03", MTOK],
      [500, "1.25", MTOK],
    ],
  },
  {
    what: "Gemini's flex tier of newer models: half of everything",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "chat",
    model: "gemini-3.8-flash",
    answer: chat(
      "gemini-3.8-flash",
      { service_tier: "flex" },
      { prompt_tokens_details: { cached_tokens: 400 } },
    ),
    bill: [
      [600, "0.375", MTOK],
      [400, "0.0375", MTOK],
      [500, "1.875", MTOK],
    ],
  },
  {
    what: "Gemini's priority tier",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-pro",
    answer: gemini("gemini-2.5-pro", { ...GEMINI_TOKENS, serviceTier: "priority" }),
    bill: [
      [1000, "2.25", MTOK],
      [500, "18", MTOK],
    ],
  },
  {
    what: "the priority tier of a model that the page has no such price for",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.0-flash",
    answer: gemini("gemini-2.0-flash", { ...GEMINI_TOKENS, serviceTier: "priority" }),
    bill: null,
  },
  {
    what: "flex traffic on Vertex, in OpenAI's format",
    source: GEMINI_PRICES,
    kind: "vertex-openai",
    wire: "chat",
    model: "google/gemini-2.5-flash",
    location: "global",
    answer: chat(
      "google/gemini-2.5-flash",
      {},
      { extra_properties: { google: { traffic_type: "ON_DEMAND_FLEX" } } },
    ),
    bill: [
      [1000, "0.15", MTOK],
      [500, "1.25", MTOK],
    ],
  },
  ...["PROVISIONED_THROUGHPUT", "ON_DEMAND_OFFPEAK"].map(
    (trafficType): VendorsBill => ({
      what: `traffic on Vertex that is not billed by these prices: ${trafficType}`,
      source: "docs.cloud.google.com, provisioned throughput, 2026-10-07",
      kind: "vertex-openai",
      wire: "gemini",
      model: "google/gemini-2.5-flash",
      location: "global",
      answer: gemini("gemini-2.5-flash", { ...GEMINI_TOKENS, trafficType }),
      bill: null,
    }),
  ),
  {
    what: "Groq's flex tier: the on-demand price",
    source: "console.groq.com/docs/flex-processing, 2026-10-07",
    kind: "groq",
    wire: "chat",
    model: "llama-3.3-70b-versatile",
    answer: chat("llama-3.3-70b-versatile", { service_tier: "flex" }),
    bill: [
      [1000, "0.59", MTOK],
      [500, "0.79", MTOK],
    ],
  },
  ...["performance", "ultrafast", "of-tomorrow"].map(
    (service_tier): VendorsBill => ({
      what: `a tier without a published price: ${service_tier}`,
      source: "console.groq.com/docs/service-tiers, 2026-10-07",
      kind: service_tier === "performance" ? "groq" : "openai",
      wire: "chat",
      model: service_tier === "performance" ? "llama-3.3-70b-versatile" : "gpt-5.4",
      answer: chat("m", { service_tier }),
      bill: null,
    }),
  ),
];

export const VENDORS_BILLS: readonly VendorsBill[] = [...TIERS];
