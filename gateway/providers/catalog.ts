import type { PROVIDER_KINDS } from "#shared/admin/providers.ts";
import { OPENAI_WIRES } from "../surface-facts.ts";
import {
  ANTHROPIC_LIKE,
  IMAGE_UPLOADS,
  OPENAI_LIKE,
  OPENAI_MODELS,
  type ProviderFacts,
  TEXT_AND_EMBEDDINGS,
  TEXT_ONLY,
  vendor,
  without,
} from "./provider-facts.ts";
import { GEMINI_NAMES, PERPLEXITY_REQUEST_FEES, PUBLISHED } from "./published-prices.ts";

/** One row per provider kind. A new kind with a known wire needs a row but no function. */
export const PROVIDERS = {
  openai: {
    ...OPENAI_LIKE,
    otherWires: [...without(), "realtime"],
    baseUrl: "https://api.openai.com/v1",
    envKey: "OPENAI_API_KEY",
    outputLimitMember: "max_completion_tokens",
    vendorHosts: ["api.openai.com"],
    modelNames:
      /^(?:(?:gpt(?!-oss)|chatgpt|codex|computer-use|omni-moderation|text-embedding|dall-e|tts|whisper|sora)-|o\d)/,
    ...OPENAI_MODELS,
    responsesSocket: true,
    inventorOf: ["chat", ...OPENAI_WIRES],
    ...PUBLISHED.openai,
  },
  anthropic: {
    ...ANTHROPIC_LIKE,
    baseUrl: "https://api.anthropic.com",
    envKey: "ANTHROPIC_API_KEY",
    vendorHosts: ["api.anthropic.com"],
    modelNames: /^claude-/,
    inventorOf: ["messages"],
    ...PUBLISHED.anthropic,
  },
  // `https://{resource}.openai.azure.com`; its v1 API takes the deployment's name as `model`.
  azure: {
    ...OPENAI_LIKE,
    rootPath: "/openai/v1",
    auth: "api-key",
    otherWires: [...without("moderations", "rerank"), "realtime"],
    lacks: ["images.variations"],
    ...OPENAI_MODELS,
    outputLimitMember: "max_completion_tokens",
    ...PUBLISHED.azure,
  },
  // `https://bedrock-runtime.{region}.amazonaws.com`, Anthropic's models, and any at Bedrock's own addresses; the credential is an API key of Bedrock's,
  // or `AKID:SECRET` or `AKID:SECRET:TOKEN`.
  bedrock: {
    ...ANTHROPIC_LIKE,
    // Embeddings of Titan models (titan-embeddings.ts).
    otherWires: ["bedrock", "embeddings"],
    lacks: ["messages.count_tokens"],
    auth: "aws",
    hostedBy: "bedrock",
    ...PUBLISHED.bedrock,
  },
  // `https://bedrock-mantle.{region}.api.aws`, Anthropic's models in Anthropic's own form; the same credential.
  "bedrock-mantle": { ...ANTHROPIC_LIKE, rootPath: "/anthropic", auth: "aws", ...PUBLISHED.bedrockMantle },
  // Bedrock's host or Mantle's `…/v1`, and the same credential: other vendors' models in OpenAI's format.
  "bedrock-openai": {
    ...OPENAI_LIKE,
    otherWires: ["responses"],
    rootPath: "/openai/v1",
    auth: "aws",
    ...PUBLISHED.bedrockOpenai,
  },
  // `https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}`, Anthropic's models; the
  // credential is a service account's key file on one line, or an access token.
  vertex: { ...ANTHROPIC_LIKE, auth: "google", hostedBy: "vertex", ...PUBLISHED.vertex },
  // That address and `/endpoints/openapi`: Gemini's models, named `google/…`, in OpenAI's format and in their own.
  "vertex-openai": {
    ...OPENAI_LIKE,
    otherWires: ["gemini"],
    geminiRoot: { instead: "/endpoints/openapi", put: "/publishers/google", models: /^google\// },
    auth: "google",
    reasoningOutsideCompletion: true,
    ...PUBLISHED.vertexOpenai,
    thoughts: { vendor: "google" },
    modelPrefix: "google/",
  },
  gemini: {
    ...OPENAI_LIKE,
    geminiRoot: { instead: "/openai", put: "", models: /./ },
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    envKey: "GEMINI_API_KEY",
    otherWires: ["embeddings", "images", "gemini", "gemini-embeddings"],
    lacks: IMAGE_UPLOADS,
    inventorOf: ["gemini", "gemini-embeddings"],
    modelNames: GEMINI_NAMES,
    reasoningOutsideCompletion: true,
    ...PUBLISHED.gemini,
    thoughts: { vendor: "google" },
    modelPrefix: "models/",
  },
  // Refuses `stream_options` with 422; reports usage in the last chunk without it.
  mistral: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.mistral.ai/v1",
    envKey: "MISTRAL_API_KEY",
    otherWires: without("responses", "completions", "images", "rerank"),
    lacks: ["audio.translations"],
    modelNames: /^(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)-/,
    acceptsStreamUsageOption: false,
    toolIdLength: 9,
    priceIds: ["mistral"],
  },
  groq: vendor(["https://api.groq.com/openai/v1", "GROQ_API_KEY"], {
    otherWires: [...TEXT_ONLY, "speech", "transcriptions"],
    ...PUBLISHED.groq,
  }),
  together: vendor(["https://api.together.xyz/v1", "TOGETHER_API_KEY"], {
    otherWires: without("moderations"),
    lacks: IMAGE_UPLOADS,
    priceIds: ["together"],
  }),
  openrouter: vendor(["https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"], {
    otherWires: without("moderations"),
    lacks: IMAGE_UPLOADS,
    priceIds: ["openrouter"],
    thoughts: { in: "reasoning_details" },
    cacheMarks: true,
    reportedCost: "cost",
  }),
  deepseek: vendor(["https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"], {
    otherWires: [],
    modelNames: /^deepseek-/,
    priceIds: ["deepseek"],
    thoughts: { in: "reasoning_content" },
  }),
  xai: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.x.ai/v1",
    envKey: "XAI_API_KEY",
    otherWires: without("completions", "moderations", "rerank"),
    lacks: ["images.variations", "audio.translations"],
    responsesSocket: true,
    modelNames: /^grok-/,
    reasoningOutsideCompletion: true,
    priceIds: ["x-ai"],
    reportedCost: "cost_in_usd_ticks",
    // Live search: USD 25 per 1,000 sources (docs.x.ai, 2025-11-01).
    sourcePrice: "0.025",
  },
  fireworks: vendor(["https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"], {
    otherWires: without("moderations", "images", "speech"),
    priceIds: ["fireworks"],
  }),
  cerebras: vendor(["https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"], {
    otherWires: ["completions"],
    priceIds: ["cerebras"],
  }),
  // Reports usage on every chunk without being asked.
  perplexity: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.perplexity.ai",
    envKey: "PERPLEXITY_API_KEY",
    otherWires: TEXT_AND_EMBEDDINGS,
    modelNames: /^sonar(?:-|$)/,
    acceptsStreamUsageOption: false,
    priceIds: ["perplexity"],
    reportedCost: "cost.total_cost",
    requestFees: PERPLEXITY_REQUEST_FEES,
  },
  moonshot: vendor(["https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"], {
    otherWires: [],
    modelNames: /^(?:kimi|moonshot)-/,
    ...PUBLISHED.moonshot,
    thoughts: { in: "reasoning_content" },
  }),
  // The Compatibility API refuses `stream_options`, and has no reranker.
  cohere: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    otherWires: ["embeddings", "rerank"],
    modelNames: /^(?:command|c4ai|embed|rerank)-/,
    inventorOf: ["rerank"],
    hostPaths: { rerank: "/v1/rerank", "rerank.v2": "/v2/rerank" },
    envKey: "COHERE_API_KEY",
    acceptsStreamUsageOption: false,
    ...PUBLISHED.cohere,
  },
  deepinfra: {
    ...OPENAI_LIKE,
    baseUrl: "https://api.deepinfra.com/v1/openai",
    envKey: "DEEPINFRA_API_KEY",
    reportedCost: "estimated_cost",
    otherWires: without("moderations"),
  },
  minimax: vendor(["https://api.minimax.io/v1", "MINIMAX_API_KEY"], {
    otherWires: [],
    modelNames: /^MiniMax-/i,
    priceIds: ["minimax"],
  }),
  zai: vendor(["https://api.z.ai/api/paas/v4", "ZAI_API_KEY"], {
    otherWires: without("responses", "completions", "moderations", "rerank"),
    lacks: [...IMAGE_UPLOADS, "audio.translations"],
    modelNames: /^glm-/,
    priceIds: ["zai"],
    thoughts: { in: "reasoning_content" },
  }),
  ollama: {
    ...OPENAI_LIKE,
    rootPath: "/v1",
    otherWires: without("moderations", "speech", "transcriptions", "rerank"),
    lacks: IMAGE_UPLOADS,
    auth: "none",
  },
  vllm: { ...OPENAI_LIKE, rootPath: "/v1", otherWires: without("moderations", "speech"), auth: "none" },
  "openai-compatible": { ...OPENAI_LIKE, auth: "none" },
  "anthropic-compatible": { ...ANTHROPIC_LIKE, thoughts: {} },
  // Answers in process (echo.ts). `.invalid` is never resolved (RFC 2606).
  echo: {
    ...OPENAI_LIKE,
    otherWires: ["messages", ...OPENAI_LIKE.otherWires, "gemini", "gemini-embeddings"],
    baseUrl: "http://echo.invalid/v1",
    allResponses: true,
    auth: "none",
    prices: {
      echo: { input: "1", output: "2", image: "0.01", character: "0.00001", searchUnit: "0.001" },
    },
  },
} as const satisfies Record<(typeof PROVIDER_KINDS)[number], ProviderFacts>;

export type ProviderKind = keyof typeof PROVIDERS;
