import type { PublishedPrice, TierPrices } from "../price-facts.ts";
import { KNOWN_PLACES } from "./places.ts";

/**
 * Prices that vendors publish and the built-in list does not have. Each table names its source and the day on which it was
 * read. Amounts are exact decimals in USD.
 */

/** openai.com/api/pricing, 2025-11-01: speech per character, images by size and quality. */
const OPENAI_PIECES = {
  "tts-1": { character: "0.000015" },
  "tts-1-hd": { character: "0.00003" },
  "dall-e-2": {
    imageBy: { "1024x1024 standard": "0.02", "512x512 standard": "0.018", "256x256 standard": "0.016" },
  },
  "dall-e-3": {
    imageBy: {
      "1024x1024 standard": "0.04",
      "1024x1792 standard": "0.08",
      "1792x1024 standard": "0.08",
      "1024x1024 hd": "0.08",
      "1024x1792 hd": "0.12",
      "1792x1024 hd": "0.12",
    },
  },
} as const satisfies Record<string, PublishedPrice>;

/** openai.com/api/pricing, 2025-11-01: about USD 0.015 a minute of speech, which has about 1,000 characters. */
const OPENAI_CHARACTER_ESTIMATES: Readonly<Record<string, string>> = { "gpt-4o-mini-tts": "0.000015" };

/** Models that do not reason (developers.openai.com/api/docs/pricing, 2026-11-27); others cost what `web_search` costs. */
const OPENAI_PREVIEW_SEARCH = {
  models: /^(?:chatgpt-4o|gpt-4)/,
  price: "0.025",
  // By `web_search`, these are billed 8,000 tokens per search, which usage may hold or not.
  contentUnsure: /^gpt-4(?:o|\.1)-mini/,
} as const;

/** openai.com/api-fast-mode, 2026-11-24. Priority processing is called fast mode since 2026-07-30; both names are taken. */
const OPENAI_FAST = {
  "gpt-5.6-sol": "2",
  "gpt-5.6-terra": "2",
  "gpt-5.6-luna": "2",
  "gpt-5.5": "2.5",
  "gpt-5.4": "2",
  "gpt-5.4-mini": "2",
  "gpt-5.2": "2",
  "gpt-5.1": "2",
  "gpt-5.1-codex": "2",
  "gpt-5": "2",
  "gpt-5-codex": "2",
  "gpt-5-mini": "1.8",
  "gpt-4.1": "1.75",
  "gpt-4.1-mini": "1.75",
  "gpt-4.1-nano": "2",
  "gpt-4o-2024-05-13": "1.75",
  "gpt-4o": "1.7",
  "gpt-4o-mini": { input: "0.25", cachedInput: "0.125", output: "1" },
  o3: "1.75",
  "o4-mini": { input: "2", cachedInput: "0.5", output: "8" },
} as const;

/** Batch and flex: half of the standard price (developers.openai.com, guides on batch and flex processing, 2026-05-27). */
const OPENAI_TIERS = {
  batch: { "*": "0.5" },
  flex: { "*": "0.5" },
  priority: OPENAI_FAST,
  fast: OPENAI_FAST,
} as const satisfies TierPrices;

/** Global batch: half of the standard price (azure.microsoft.com, Azure OpenAI pricing, 2025-11-01). */
const AZURE_TIERS = { batch: { "*": "0.5" } } as const satisfies TierPrices;

/**
 * Batch: half of the standard price (platform.claude.com, pricing, 2026-05-28). Fast mode: platform.claude.com, fast mode,
 * 2026-05-28, and openrouter.ai/anthropic/claude-opus-5-fast, 2026-07-24.
 */
const ANTHROPIC_TIERS = {
  batch: { "*": "0.5" },
  fast: { "claude-opus-4-6": "6", "claude-opus-4-7": "6", "claude-opus-4-8": "2", "claude-opus-5": "2" },
} as const satisfies TierPrices;

/** USD 2.00 per 1,000 searches, and 2.50 for the larger model (openrouter.ai and cohere.com/pricing, 2026-11-27). */
const COHERE_RERANK = {
  "rerank-english-v3.0": { searchUnit: "0.002" },
  "rerank-multilingual-v3.0": { searchUnit: "0.002" },
  "rerank-v3.5": { searchUnit: "0.002" },
  "rerank-v4.0-fast": { searchUnit: "0.002" },
  "rerank-v4.0-pro": { searchUnit: "0.0025" },
} as const satisfies Record<string, PublishedPrice>;

const HALF_BUT_FOR_CACHE = { times: "0.5", cacheReads: "1" } as const;

/** Batch and flex: ai.google.dev/gemini-api/docs/pricing, 2026-10-07. */
const GEMINI_HALF = {
  "gemini-2.5-flash": HALF_BUT_FOR_CACHE,
  "gemini-2.5-flash-image": "0.5",
  "gemini-2.5-flash-lite": HALF_BUT_FOR_CACHE,
  "gemini-2.5-pro": HALF_BUT_FOR_CACHE,
  "gemini-3-flash-preview": HALF_BUT_FOR_CACHE,
  "gemini-3-pro-image": "0.5",
  "gemini-3.1-flash-lite": "0.5",
  "gemini-3.1-pro-preview": HALF_BUT_FOR_CACHE,
  "gemini-3.5-flash": "0.5",
  "gemini-3.5-flash-lite": "0.5",
  "gemini-3.6-flash": "0.5",
  "gemini-3.7-flash": "0.5",
  "gemini-3.8-flash": "0.5",
} as const;

/** The same page has a priority price of 1.8 times the standard one for the same models. */
const GEMINI_TIERS: TierPrices = {
  batch: GEMINI_HALF,
  flex: GEMINI_HALF,
  priority: Object.fromEntries(Object.keys(GEMINI_HALF).map((model) => [model, "1.8"])),
};

/** Flex costs what on-demand calls cost (console.groq.com/docs/flex-processing, 2026-10-07). */
const GROQ_TIERS = { flex: { "*": "1" } } as const satisfies TierPrices;

const SONAR_FEES = { low: "5", medium: "8", high: "12" } as const;
const SONAR_PRO_FEES = { low: "6", medium: "10", high: "14" } as const;
/** `search_type: "pro"`. */
const PRO_SEARCH_FEES = { "low pro": "14", "medium pro": "18", "high pro": "22" } as const;

/** USD per 1,000 calls by `search_context_size` (docs.perplexity.ai, pricing, 2026-11-27). */
export const PERPLEXITY_REQUEST_FEES = {
  sonar: SONAR_FEES,
  "sonar-pro": { ...SONAR_PRO_FEES, ...PRO_SEARCH_FEES },
  "sonar-reasoning": SONAR_FEES,
  "sonar-reasoning-pro": SONAR_PRO_FEES,
} as const;

const GEMINI_PRICES = { priceIds: ["google"], tiers: GEMINI_TIERS } as const;
const BEDROCK_PRICES = { priceIds: ["aws"], places: KNOWN_PLACES.bedrock } as const;
// The lists of clouds have models that only another of their addresses serves.
const CLAUDE = { serves: /claude-/ } as const;
const NO_CLAUDE = { serves: /^(?!.*claude-)/ } as const;
export const GEMINI_NAMES = /^(?:models\/)?(?:gemini|gemma|imagen|veo)-/;

/** What each vendor's row of the catalogue says of prices, besides those of the built-in list. */
export const PUBLISHED = {
  openai: {
    priceIds: ["openai"],
    prices: OPENAI_PIECES,
    characterEstimates: OPENAI_CHARACTER_ESTIMATES,
    previewSearch: OPENAI_PREVIEW_SEARCH,
    tiers: OPENAI_TIERS,
    places: KNOWN_PLACES.openai,
  },
  azure: {
    priceIds: ["azure"],
    prices: OPENAI_PIECES,
    characterEstimates: OPENAI_CHARACTER_ESTIMATES,
    tiers: AZURE_TIERS,
    places: KNOWN_PLACES.azure,
  },
  anthropic: { priceIds: ["anthropic"], tiers: ANTHROPIC_TIERS },
  bedrock: BEDROCK_PRICES,
  bedrockMantle: { ...BEDROCK_PRICES, ...CLAUDE },
  bedrockOpenai: { ...BEDROCK_PRICES, ...NO_CLAUDE },
  cohere: { priceIds: ["cohere"], prices: COHERE_RERANK },
  gemini: { ...GEMINI_PRICES, serves: GEMINI_NAMES },
  groq: { priceIds: ["groq"], tiers: GROQ_TIERS },
  vertex: {
    ...CLAUDE,
    priceIds: ["google"],
    places: KNOWN_PLACES.vertex,
    // platform.claude.com, pricing, long context, 2026-11-27.
    flatSince: { models: /^claude-opus-4-6/, day: "2026-03-13" },
  },
  vertexOpenai: { ...GEMINI_PRICES, ...NO_CLAUDE, places: KNOWN_PLACES.vertexOpenai },
  // USD 0.005 per call of its own search tool (platform.kimi.ai/docs/pricing/tools, 2026-11-27).
  moonshot: { priceIds: ["moonshotai"], searchTool: "$web_search", searchPrice: "0.005" },
} as const;
