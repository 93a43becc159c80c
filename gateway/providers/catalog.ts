import type { SurfaceName, WireName } from "../surface-facts.ts";
import {
  ANTHROPIC_TIERS,
  AZURE_TIERS,
  OPENAI_CHARACTER_ESTIMATES,
  OPENAI_PIECES,
  OPENAI_TIERS,
  type PublishedPrice,
  type PublishedTiers,
} from "./published-prices.ts";
import type { ReportedCost } from "./reported-cost.ts";

/** Facts about a provider kind. */
export type ProviderFacts = {
  wire: WireName;
  /** Wires that it also supports natively, at the same root. */
  otherWires: readonly WireName[];
  /** API root without a trailing slash, as the vendor's SDK expects it; null if an administrator must set one. */
  baseUrl: string | null;
  /** Path to add to a root without one, because the vendor's SDK takes the bare host. */
  rootPath?: string;
  /** Deviations from a surface's `upstreamPath`. */
  paths?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** Paths of surfaces that are relative to the host, not to the API root. */
  hostPaths?: Readonly<Partial<Record<SurfaceName, string>>>;
  /**
   * How the credential is sent; `none` needs no credential, and one that is set goes as a bearer token. `aws` and
   * `google` sign each call with it.
   */
  auth: "bearer" | "x-api-key" | "api-key" | "none" | "aws" | "google";
  /** The cloud that hosts the vendor's models with its own form of the wire: the model is in the path. */
  hostedBy?: "bedrock" | "vertex";
  /** Environment variable whose presence creates the provider; null if a credential alone is not enough. */
  envKey: string | null;
  /** The vendor's own hosts: where a caller's own subscription may be used (subscription lane). */
  vendorHosts: readonly string[];
  /** Whether it accepts `stream_options.include_usage`; some refuse the member, some always report usage. */
  acceptsStreamUsageOption: boolean;
  /** The member that bounds an answer in the chat format: OpenAI's newer models refuse the older one, most know no other. */
  outputLimitMember: "max_tokens" | "max_completion_tokens";
  /** `total_tokens` = prompt + completion + reasoning: the output is the total less the prompt. */
  reasoningOutsideCompletion: boolean;
  /** Its ids in the built-in price list. */
  priceIds: readonly string[];
  /** Where its answers report their own cost. */
  reportedCost?: ReportedCost;
  /** USD per source that a search read, where `num_sources_used` is billed. */
  sourcePrice?: string;
  /** Prefix of model names here that the price list does not use. */
  modelPrefix?: string;
  /** Prices of models missing from public lists. */
  prices?: Readonly<Record<string, PublishedPrice>>;
  /** USD per character of speech, by model, where only tokens are billed and the answer does not report them. */
  characterEstimates?: Readonly<Record<string, string>>;
  /** Prices of service tiers. */
  tiers?: PublishedTiers;
};

/** What most providers that copy OpenAI's chat wire have in common. */
const OPENAI_LIKE = {
  wire: "chat",
  otherWires: ["responses", "embeddings", "moderations", "images", "speech", "transcriptions", "rerank"],
  baseUrl: null,
  auth: "bearer",
  envKey: null,
  vendorHosts: [],
  acceptsStreamUsageOption: true,
  outputLimitMember: "max_tokens",
  reasoningOutsideCompletion: false,
  priceIds: [],
} as const satisfies ProviderFacts;

const ANTHROPIC_LIKE = {
  ...OPENAI_LIKE,
  wire: "messages",
  otherWires: [],
  auth: "x-api-key",
} as const satisfies ProviderFacts;

/** A vendor that differs from OpenAI in nothing but its address, its key and its prices. */
const vendor = (baseUrl: string, envKey: string, priceIds: readonly string[]) => ({
  ...OPENAI_LIKE,
  baseUrl,
  envKey,
  priceIds,
});

/** One row per provider kind. A new kind with a known wire needs a row but no function. */
export const PROVIDERS = {
  openai: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.openai.com/v1",
    envKey: "OPENAI_API_KEY",
    outputLimitMember: "max_completion_tokens",
    vendorHosts: ["api.openai.com"],
    priceIds: ["openai"],
    prices: OPENAI_PIECES,
    characterEstimates: OPENAI_CHARACTER_ESTIMATES,
    tiers: OPENAI_TIERS,
  },
  anthropic: {
    ...ANTHROPIC_LIKE,
    baseUrl: "https://api.anthropic.com",
    envKey: "ANTHROPIC_API_KEY",
    vendorHosts: ["api.anthropic.com"],
    priceIds: ["anthropic"],
    tiers: ANTHROPIC_TIERS,
  },
  // `https://{resource}.openai.azure.com`; its v1 API takes the deployment's name as `model`.
  azure: {
    ...OPENAI_LIKE,
    rootPath: "/openai/v1",
    auth: "api-key",
    outputLimitMember: "max_completion_tokens",
    priceIds: ["azure"],
    prices: OPENAI_PIECES,
    characterEstimates: OPENAI_CHARACTER_ESTIMATES,
    tiers: AZURE_TIERS,
  },
  // `https://bedrock-runtime.{region}.amazonaws.com`, Anthropic's models; the credential is an API key of Bedrock's,
  // or `AKID:SECRET` or `AKID:SECRET:TOKEN`.
  bedrock: { ...ANTHROPIC_LIKE, auth: "aws", hostedBy: "bedrock", priceIds: ["aws"] },
  // `https://bedrock-mantle.{region}.api.aws`, Anthropic's models in Anthropic's own form; the same credential.
  "bedrock-mantle": { ...ANTHROPIC_LIKE, rootPath: "/anthropic", auth: "aws", priceIds: ["aws"] },
  // Bedrock's host or Mantle's `…/v1`, and the same credential: other vendors' models in OpenAI's format.
  "bedrock-openai": {
    ...OPENAI_LIKE,
    otherWires: ["responses"],
    rootPath: "/openai/v1",
    auth: "aws",
    priceIds: ["aws"],
  },
  // `https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}`, Anthropic's models; the
  // credential is a service account's key file on one line, or an access token.
  vertex: { ...ANTHROPIC_LIKE, auth: "google", hostedBy: "vertex", priceIds: ["google"] },
  // That address and `/endpoints/openapi`: Gemini's models, named `google/…`, in OpenAI's format.
  "vertex-openai": {
    ...OPENAI_LIKE,
    otherWires: [],
    auth: "google",
    reasoningOutsideCompletion: true,
    priceIds: ["google"],
    modelPrefix: "google/",
  },
  gemini: {
    ...OPENAI_LIKE,
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    envKey: "GEMINI_API_KEY",
    reasoningOutsideCompletion: true,
    priceIds: ["google"],
    modelPrefix: "models/",
  },
  // Refuses `stream_options` with 422; reports usage in the last chunk without it.
  mistral: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.mistral.ai/v1",
    envKey: "MISTRAL_API_KEY",
    acceptsStreamUsageOption: false,
    priceIds: ["mistral"],
  },
  groq: vendor("https://api.groq.com/openai/v1", "GROQ_API_KEY", ["groq"]),
  together: vendor("https://api.together.xyz/v1", "TOGETHER_API_KEY", ["together"]),
  openrouter: {
    ...vendor("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", ["openrouter"]),
    reportedCost: "cost",
  },
  deepseek: vendor("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", ["deepseek"]),
  xai: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.x.ai/v1",
    envKey: "XAI_API_KEY",
    reasoningOutsideCompletion: true,
    priceIds: ["x-ai"],
    reportedCost: "cost_in_usd_ticks",
    // Live search: USD 25 per 1,000 sources (docs.x.ai, 2025-11-01).
    sourcePrice: "0.025",
  },
  fireworks: vendor("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", ["fireworks"]),
  cerebras: vendor("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", ["cerebras"]),
  // Reports usage on every chunk without being asked.
  perplexity: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.perplexity.ai",
    envKey: "PERPLEXITY_API_KEY",
    acceptsStreamUsageOption: false,
    priceIds: ["perplexity"],
    reportedCost: "cost.total_cost",
  },
  moonshot: vendor("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", ["moonshotai"]),
  // The Compatibility API refuses `stream_options`, and has no reranker.
  cohere: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    hostPaths: { rerank: "/v1/rerank", "rerank.v2": "/v2/rerank" },
    envKey: "COHERE_API_KEY",
    acceptsStreamUsageOption: false,
    priceIds: ["cohere"],
  },
  deepinfra: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.deepinfra.com/v1/openai",
    envKey: "DEEPINFRA_API_KEY",
    reportedCost: "estimated_cost",
  },
  minimax: vendor("https://api.minimax.io/v1", "MINIMAX_API_KEY", ["minimax"]),
  zai: vendor("https://api.z.ai/api/paas/v4", "ZAI_API_KEY", ["zai"]),
  ollama: { ...OPENAI_LIKE, rootPath: "/v1", auth: "none" },
  vllm: { ...OPENAI_LIKE, rootPath: "/v1", auth: "none" },
  "openai-compatible": { ...OPENAI_LIKE, auth: "none" },
  "anthropic-compatible": ANTHROPIC_LIKE,
  // Answers in process (echo.ts). `.invalid` is never resolved (RFC 2606).
  echo: {
    ...OPENAI_LIKE,
    otherWires: ["messages", ...OPENAI_LIKE.otherWires],
    baseUrl: "http://echo.invalid/v1",
    auth: "none",
    prices: {
      echo: { input: "1", output: "2", image: "0.01", character: "0.00001", searchUnit: "0.001" },
    },
  },
} as const satisfies Record<string, ProviderFacts>;

export type ProviderKind = keyof typeof PROVIDERS;
