import type { PriceOverride } from "#gateway/directory.ts";
import type { ProviderKind } from "#gateway/providers/catalog.ts";
import type { Usage } from "#shared/usage.ts";

/** `count` units at `usd` for each `per` of them. */
export type BillLine = readonly [count: number, usd: string, per: number];

/** What an administrator enters of a price. */
export type Entered = Partial<Omit<PriceOverride, "id" | "effectiveFromMs">>;

/** An answer, what a contract's prices bill for it, and what the vendor's list does. */
export type ContractBill = {
  /** What is billed. */
  what: string;
  /** Where the list's prices are published, and the day on which they were read. */
  source: string;
  kind: ProviderKind;
  asked: string;
  /** Absent: the asked id. */
  answered?: string;
  tier?: string;
  variant?: string;
  usage: Partial<Usage>;
  own?: readonly Entered[];
  /** Null: no price is known. */
  bill: readonly BillLine[] | null;
  /** By the list, beside an own price; null: the list has none. */
  list?: readonly BillLine[] | null;
  partial?: true;
};

const MTOK = 1_000_000;
const OPENAI = "developers.openai.com/api/docs/pricing, 2026-11-27";
const MISTRAL = "docs.mistral.ai, models, 2026-11-27";
const ANTHROPIC = "platform.claude.com, pricing, 2026-11-27";

const GPT_5_4 = { input: "2.25", output: "13.5", cachedInput: "0.225" };

const CONTRACTS: readonly ContractBill[] = [
  {
    what: "a long input has the contract's prices in the list's proportions",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-5.4",
    usage: { uncachedInputTokens: 300_000, outputTokens: 1000 },
    own: [GPT_5_4],
    bill: [
      [300_000, "4.5", MTOK],
      [1000, "20.25", MTOK],
    ],
    list: [
      [300_000, "5", MTOK],
      [1000, "22.5", MTOK],
    ],
  },
  {
    what: "sound that a contract does not name costs what the list says",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-audio",
    usage: { uncachedInputTokens: 1000, audioInputTokens: 800, outputTokens: 300, audioOutputTokens: 200 },
    own: [GPT_5_4],
    bill: [
      [200, "2.25", MTOK],
      [800, "32", MTOK],
      [100, "13.5", MTOK],
      [200, "64", MTOK],
    ],
    list: [
      [200, "2.5", MTOK],
      [800, "32", MTOK],
      [100, "10", MTOK],
      [200, "64", MTOK],
    ],
  },
  {
    what: "a discount of 10 % on everything but the fees of searches",
    source: ANTHROPIC,
    kind: "anthropic",
    asked: "claude-sonnet-4-5",
    usage: {
      uncachedInputTokens: 1000,
      cacheReadTokens: 2000,
      cacheWrite5mTokens: 300,
      outputTokens: 500,
      webSearches: 2,
    },
    own: [{ multiplier: "0.9" }],
    bill: [
      [1000, "2.7", MTOK],
      [2000, "0.27", MTOK],
      [300, "3.375", MTOK],
      [500, "13.5", MTOK],
      [2, "10", 1000],
    ],
    list: [
      [1000, "3", MTOK],
      [2000, "0.3", MTOK],
      [300, "3.75", MTOK],
      [500, "15", MTOK],
      [2, "10", 1000],
    ],
  },
  {
    what: "a discount holds in the tiers that the list has",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-5.4",
    tier: "flex",
    usage: { uncachedInputTokens: 1000, outputTokens: 1000 },
    own: [{ multiplier: "0.9" }],
    bill: [
      [1000, "1.125", MTOK],
      [1000, "6.75", MTOK],
    ],
    list: [
      [1000, "1.25", MTOK],
      [1000, "7.5", MTOK],
    ],
  },
  {
    what: "amounts keep the list's relation between the tiers",
    source: OPENAI,
    kind: "openai",
    asked: "o4-mini",
    tier: "priority",
    usage: { uncachedInputTokens: 1000, cacheReadTokens: 1000, outputTokens: 1000 },
    own: [{ input: "0.99", output: "3.96", cachedInput: "0.2475" }],
    bill: [
      [1000, "1.8", MTOK],
      [1000, "0.45", MTOK],
      [1000, "7.2", MTOK],
    ],
    list: [
      [1000, "2", MTOK],
      [1000, "0.5", MTOK],
      [1000, "8", MTOK],
    ],
  },
  {
    what: "one amount alone",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-5.4",
    usage: { uncachedInputTokens: 1000, cacheReadTokens: 3000, outputTokens: 200 },
    own: [{ cachedInput: "0.1" }],
    bill: [
      [1000, "2.5", MTOK],
      [3000, "0.1", MTOK],
      [200, "15", MTOK],
    ],
    list: [
      [1000, "2.5", MTOK],
      [3000, "0.25", MTOK],
      [200, "15", MTOK],
    ],
  },
  {
    what: "images of a contract, by size and quality",
    source: "openai.com/api/pricing, 2025-11-01",
    kind: "openai",
    asked: "dall-e-3",
    variant: "1024x1792 hd",
    usage: { images: 2 },
    own: [{ multiplier: "0.5" }],
    bill: [[2, "0.06", 1]],
    list: [[2, "0.12", 1]],
  },
  {
    what: "counts that neither the contract nor the list has a price for are left out",
    source: "no list",
    kind: "vllm",
    asked: "qwen3-coder",
    usage: { uncachedInputTokens: 1000, cacheReadTokens: 9000, outputTokens: 100 },
    own: [{ input: "0.2", output: "0.8" }],
    bill: [
      [1000, "0.2", MTOK],
      [100, "0.8", MTOK],
    ],
    list: null,
    partial: true,
  },
  {
    what: "without such counts the price is complete",
    source: "no list",
    kind: "vllm",
    asked: "qwen3-coder",
    usage: { uncachedInputTokens: 1000, cacheReadTokens: 0, outputTokens: 100, reasoningTokens: 50 },
    own: [{ input: "0.2", output: "0.8" }],
    bill: [
      [1000, "0.2", MTOK],
      [100, "0.8", MTOK],
    ],
    list: null,
  },
  {
    what: "a multiple of nothing",
    source: "no list",
    kind: "vllm",
    asked: "qwen3-coder",
    usage: { uncachedInputTokens: 1000, outputTokens: 100 },
    own: [{ multiplier: "0.9" }],
    bill: null,
  },
];

const PERPLEXITY = "docs.perplexity.ai, pricing, 2026-11-27";

const SEARCHES: readonly ContractBill[] = [
  {
    what: "the request fee of a small search context",
    source: PERPLEXITY,
    kind: "perplexity",
    asked: "sonar",
    variant: "low",
    usage: { uncachedInputTokens: 1000, outputTokens: 500 },
    bill: [
      [1500, "1", MTOK],
      [1, "5", 1000],
    ],
  },
  {
    what: "the request fee of a pro search",
    source: PERPLEXITY,
    kind: "perplexity",
    asked: "sonar-pro",
    variant: "high pro",
    usage: { uncachedInputTokens: 1000, outputTokens: 500 },
    bill: [
      [1000, "3", MTOK],
      [500, "15", MTOK],
      [1, "22", 1000],
    ],
  },
  {
    what: "a discount on tokens and the request fee",
    source: PERPLEXITY,
    kind: "perplexity",
    asked: "sonar",
    variant: "high",
    usage: { uncachedInputTokens: 1000, outputTokens: 500 },
    own: [{ multiplier: "0.5" }],
    bill: [
      [1500, "0.5", MTOK],
      [1, "6", 1000],
    ],
    list: [
      [1500, "1", MTOK],
      [1, "12", 1000],
    ],
  },
];

const LARGE_3 = [
  [1000, "0.5", MTOK],
  [500, "1.5", MTOK],
] as const;
const TOKENS = { uncachedInputTokens: 1000, outputTokens: 500 };

const ANSWERED: readonly ContractBill[] = [
  {
    what: "the id that answered",
    source: MISTRAL,
    kind: "mistral",
    asked: "mistral-large-latest",
    answered: "mistral-large-2512",
    usage: TOKENS,
    bill: LARGE_3,
  },
  {
    what: "an alias of today",
    source: MISTRAL,
    kind: "mistral",
    asked: "mistral-large-latest",
    usage: TOKENS,
    bill: LARGE_3,
  },
  {
    what: "an older date of the alias",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-4o",
    answered: "gpt-4o-2024-05-13",
    usage: TOKENS,
    bill: [
      [1000, "5", MTOK],
      [500, "15", MTOK],
    ],
  },
  {
    what: "a date that the list lacks, of a family that it prices by date",
    source: MISTRAL,
    kind: "mistral",
    asked: "mistral-large-latest",
    answered: "mistral-large-2702",
    usage: TOKENS,
    bill: null,
  },
  {
    what: "a vendor's model that the list lacks, behind an alias that it has",
    source: ANTHROPIC,
    kind: "anthropic",
    asked: "claude-sonnet-5",
    answered: "claude-sonnet-5-7",
    usage: TOKENS,
    bill: null,
  },
  {
    what: "a contract's price of the asked id holds for its versions",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-4o",
    answered: "gpt-4o-2024-08-06",
    usage: TOKENS,
    own: [{ input: "2", output: "8" }],
    bill: [
      [1000, "2", MTOK],
      [500, "8", MTOK],
    ],
    list: [
      [1000, "2.5", MTOK],
      [500, "10", MTOK],
    ],
  },
  {
    what: "a host's answer that lacks the host: global, not regional",
    source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
    kind: "bedrock",
    asked: "global.anthropic.claude-opus-5",
    answered: "claude-opus-5",
    usage: TOKENS,
    bill: [
      [1000, "5", MTOK],
      [500, "25", MTOK],
    ],
  },
  {
    what: "a host's answer that lacks the host: regional",
    source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
    kind: "bedrock",
    asked: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    answered: "claude-sonnet-4-5-20250929",
    usage: TOKENS,
    bill: [
      [1000, "3.3", MTOK],
      [500, "16.5", MTOK],
    ],
  },
];

const STEPS: readonly ContractBill[] = [
  {
    what: "exactly 272,000 tokens of input have the lower price",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-5.4",
    usage: { uncachedInputTokens: 200_000, cacheReadTokens: 72_000, outputTokens: 0 },
    bill: [
      [200_000, "2.5", MTOK],
      [72_000, "0.25", MTOK],
    ],
  },
  {
    what: "one more has the higher price",
    source: OPENAI,
    kind: "openai",
    asked: "gpt-5.4",
    usage: { uncachedInputTokens: 200_001, cacheReadTokens: 72_000, outputTokens: 0 },
    bill: [
      [200_001, "5", MTOK],
      [72_000, "0.5", MTOK],
    ],
  },
  {
    what: "exactly 200,000 tokens of input have the lower price",
    source: "ai.google.dev/gemini-api/docs/pricing, 2026-10-07",
    kind: "gemini",
    asked: "gemini-2.5-pro",
    usage: { uncachedInputTokens: 200_000, outputTokens: 0 },
    bill: [[200_000, "1.25", MTOK]],
  },
];

export const CONTRACT_BILLS: readonly ContractBill[] = [...CONTRACTS, ...SEARCHES, ...ANSWERED, ...STEPS];
