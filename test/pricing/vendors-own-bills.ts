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
  /** The provider's address, and its `location`; without them, it runs anywhere. */
  baseUrl?: string;
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

const RESPONSE_TOKENS = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };
const response = (model: string, output: object[], more: object = {}, usage: object = {}) => ({
  id: "r1",
  object: "response",
  status: "completed",
  model,
  output,
  usage: { ...RESPONSE_TOKENS, ...usage },
  ...more,
});
const SEARCH = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } };
const OPENAI_TOOLS = "developers.openai.com/api/docs/pricing, built-in tools, 2026-11-27";
const KIMI_TOOLS = "platform.kimi.ai/docs/pricing/tools, 2026-11-27";
const searchCall = {
  index: 0,
  id: "t0",
  type: "builtin_function",
  function: { name: "$web_search", arguments: "{}" },
};
const kimi = (message: object, delta: boolean) => ({
  object: delta ? "chat.completion.chunk" : "chat.completion",
  model: "kimi-k2.6",
  choices: [{ index: 0, [delta ? "delta" : "message"]: message, finish_reason: "tool_calls" }],
});

const FEES: readonly VendorsBill[] = [
  ...["web_search_preview", "web_search_preview_2025_03_11"].map(
    (type): VendorsBill => ({
      what: `a search by ${type} with a model that does not reason`,
      source: OPENAI_TOOLS,
      kind: "openai",
      wire: "responses",
      model: "gpt-4o",
      answer: response("gpt-4o-2024-08-06", [SEARCH], { tools: [{ type, search_context_size: "low" }] }),
      bill: [
        [1000, "2.5", MTOK],
        [500, "10", MTOK],
        [1, "25", 1000],
      ],
    }),
  ),
  {
    what: "the same in a stream",
    source: OPENAI_TOOLS,
    kind: "openai",
    wire: "responses",
    model: "gpt-4o",
    answer: [
      { type: "response.output_text.delta", delta: "Rain." },
      {
        type: "response.completed",
        response: response("gpt-4o", [SEARCH, SEARCH], { tools: [{ type: "web_search_preview" }] }),
      },
    ],
    bill: [
      [1000, "2.5", MTOK],
      [500, "10", MTOK],
      [2, "25", 1000],
    ],
  },
  {
    what: "a search by web_search, and by web_search_preview with a model that reasons",
    source: OPENAI_TOOLS,
    kind: "openai",
    wire: "responses",
    model: "gpt-5.4",
    answer: response("gpt-5.4", [SEARCH], { tools: [{ type: "web_search_preview" }] }),
    bill: [
      [1000, "2.5", MTOK],
      [500, "15", MTOK],
      [1, "10", 1000],
    ],
  },
  ...(
    [
      ["web_search_preview", "25"],
      ["web_search", "10"],
    ] as const
  ).map(
    ([type, usd]): VendorsBill => ({
      what: `a search by ${type} with a small model, whose content may be in the usage or not`,
      source: OPENAI_TOOLS,
      kind: "openai",
      wire: "responses",
      model: "gpt-4.1-mini",
      answer: response("gpt-4.1-mini", [SEARCH], { tools: [{ type }] }),
      bill: [
        [1000, "0.4", MTOK],
        [500, "1.6", MTOK],
        [1, usd, 1000],
      ],
      ...(type === "web_search" && { partial: true }),
    }),
  ),
  {
    what: "searches of stored files",
    source: OPENAI_TOOLS,
    kind: "openai",
    wire: "responses",
    model: "gpt-5.4",
    answer: response("gpt-5.4", [
      { type: "file_search_call", id: "fs_1", queries: ["a", "b"] },
      { type: "file_search_call", id: "fs_2", queries: ["c"] },
    ]),
    bill: [
      [1000, "2.5", MTOK],
      [500, "15", MTOK],
      [2, "2.5", 1000],
    ],
  },
  {
    what: "a search of stored files at a provider without a price for it: the tokens",
    source: "docs.x.ai/developers/pricing, 2026-11-27",
    kind: "xai",
    wire: "responses",
    model: "grok-4",
    answer: response("grok-4", [{ type: "file_search_call", id: "fs_1" }]),
    bill: [
      [1000, "3", MTOK],
      [500, "15", MTOK],
    ],
    partial: true,
  },
  {
    what: "a call of $web_search",
    source: KIMI_TOOLS,
    kind: "moonshot",
    wire: "chat",
    model: "kimi-k2.6",
    answer: { ...kimi({ role: "assistant", tool_calls: [searchCall] }, false), usage: CHAT_TOKENS },
    bill: [
      [1000, "0.95", MTOK],
      [500, "4", MTOK],
      [1, "0.005", 1],
    ],
  },
  {
    what: "calls of $web_search in a stream, after its reasoning",
    source: KIMI_TOOLS,
    kind: "moonshot",
    wire: "chat",
    model: "kimi-k2.6",
    answer: [
      kimi({ reasoning_content: "Weather…" }, true),
      kimi({ tool_calls: [searchCall] }, true),
      kimi({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }, true),
      kimi({ tool_calls: [{ ...searchCall, index: 1 }] }, true),
      { ...kimi({}, true), usage: CHAT_TOKENS },
    ],
    bill: [
      [1000, "0.95", MTOK],
      [500, "4", MTOK],
      [2, "0.005", 1],
    ],
  },
  {
    what: "Google Search, whose free share is not told: the tokens",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: gemini(
      "gemini-2.5-flash",
      { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
      { groundingMetadata: { webSearchQueries: ["weather"] } },
    ),
    bill: [
      [1000, "0.3", MTOK],
      [100, "2.5", MTOK],
    ],
    partial: true,
  },
];

const GROUNDED: readonly VendorsBill[] = [
  { groundingChunks: [{ maps: { uri: "https://maps.example/1" } }] },
  { retrievalQueries: ["weather"] },
  { imageSearchQueries: ["weather"] },
].map((groundingMetadata) => ({
  what: `an answer grounded in ${Object.keys(groundingMetadata)}: the tokens`,
  source: GEMINI_PRICES,
  kind: "gemini",
  wire: "gemini",
  model: "gemini-3.5-flash",
  answer: [
    gemini("gemini-3.5-flash", {}, { finishReason: undefined }),
    gemini("gemini-3.5-flash", {}, { finishReason: undefined, groundingMetadata }),
    gemini("gemini-3.5-flash", GEMINI_TOKENS),
  ],
  bill: [
    [1000, "1.5", MTOK],
    [500, "9", MTOK],
  ],
  partial: true,
}));

const cachedAudio = (cacheTokensDetails: object[] | undefined) =>
  gemini("gemini-2.5-flash", {
    promptTokenCount: 2000,
    candidatesTokenCount: 100,
    totalTokenCount: 2100,
    cachedContentTokenCount: 1200,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 500 },
      { modality: "AUDIO", tokenCount: 1500 },
    ],
    cacheTokensDetails,
  });

const IMAGE_USAGE = {
  input_tokens: 80,
  input_tokens_details: { text_tokens: 80, image_tokens: 0 },
  output_tokens: 1200,
  total_tokens: 1280,
};

const UNITS: readonly VendorsBill[] = [
  {
    what: "audio in the cache",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: cachedAudio([
      { modality: "TEXT", tokenCount: 200 },
      { modality: "AUDIO", tokenCount: 1000 },
    ]),
    bill: [
      [300, "0.3", MTOK],
      [500, "1", MTOK],
      [200, "0.03", MTOK],
      [1000, "0.1", MTOK],
      [100, "2.5", MTOK],
    ],
  },
  {
    what: "text alone in the cache, beside audio",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: cachedAudio([{ modality: "TEXT", tokenCount: 1200 }]),
    bill: [
      [800, "1", MTOK],
      [1200, "0.03", MTOK],
      [100, "2.5", MTOK],
    ],
  },
  ...["promptTokensDetails", "candidatesTokensDetails"].map(
    (details): VendorsBill => ({
      what: `tokens of a kind that has no known price, in ${details}: the usual price`,
      source: GEMINI_PRICES,
      kind: "gemini",
      wire: "gemini",
      model: "gemini-2.5-flash",
      answer: gemini("gemini-2.5-flash", {
        ...GEMINI_TOKENS,
        [details]: [
          { modality: "TEXT", tokenCount: 400 },
          { modality: "SMELL", tokenCount: 100 },
        ],
      }),
      bill: [
        [1000, "0.3", MTOK],
        [500, "2.5", MTOK],
      ],
      partial: true,
    }),
  ),
  {
    what: "audio that may be in the cache or not: as much of it as can be",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: cachedAudio(undefined),
    bill: [
      [500, "0.3", MTOK],
      [300, "1", MTOK],
      [1200, "0.1", MTOK],
      [100, "2.5", MTOK],
    ],
    partial: true,
  },
  {
    what: "a picture",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash-image",
    answer: gemini("gemini-2.5-flash-image", {
      promptTokenCount: 10,
      candidatesTokenCount: 1290,
      totalTokenCount: 1300,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 10 }],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }],
    }),
    bill: [
      [10, "0.3", MTOK],
      [1290, "30", MTOK],
    ],
  },
  {
    what: "output of a picture's model that may be text or the picture: as text",
    source: GEMINI_PRICES,
    kind: "gemini",
    wire: "chat",
    model: "gemini-2.5-flash-image",
    answer: chat("gemini-2.5-flash-image"),
    bill: [
      [1000, "0.3", MTOK],
      [500, "2.5", MTOK],
    ],
    partial: true,
  },
  {
    what: "a streamed picture, all of whose output is the picture",
    source: "developers.openai.com/api/docs/pricing, 2026-11-27",
    kind: "openai",
    wire: "images",
    model: "gpt-image-1.5",
    answer: [
      { type: "image_generation.partial_image", b64_json: "aQ", partial_image_index: 0 },
      { type: "image_generation.completed", b64_json: "aQ", usage: IMAGE_USAGE },
    ],
    bill: [
      [80, "5", MTOK],
      [1200, "32", MTOK],
    ],
  },
  {
    what: "a drawing whose tokens another figure tells",
    source: "openai 7, ImagesResponse.svg_usage",
    kind: "openai",
    wire: "images",
    model: "gpt-image-1.5",
    answer: {
      data: [{ b64_json: "aQ" }],
      usage: { ...IMAGE_USAGE, output_tokens_details: { text_tokens: 0, image_tokens: 1200 } },
      svg_usage: { input_tokens: 100, output_tokens: 900 },
    },
    bill: [
      [80, "5", MTOK],
      [1200, "32", MTOK],
    ],
    partial: true,
  },
  {
    what: "seconds of sound",
    source: "developers.openai.com/api/docs/pricing, 2026-11-27",
    kind: "openai",
    wire: "transcriptions",
    model: "whisper-1",
    answer: { text: "Rain.", usage: { type: "duration", seconds: 47 } },
    bill: [[47, "0.36", 3600]],
  },
  {
    what: "seconds of sound at a price that no decimal of a second has",
    source: "groq.com/pricing, 2026-11-27",
    kind: "groq",
    wire: "transcriptions",
    model: "whisper-large-v3-turbo",
    answer: { text: "Rain.", usage: { type: "duration", seconds: 100 } },
    bill: [[100, "0.04", 3600]],
  },
  {
    what: "sound that is shorter than the vendor's minimum of 10 seconds",
    source: "console.groq.com/docs/speech-to-text, 2026-11-28",
    kind: "groq",
    wire: "transcriptions",
    model: "whisper-large-v3",
    answer: { text: "Rain.", usage: { type: "duration", seconds: 3 } },
    bill: [[10, "0.111", 3600]],
  },
  {
    what: "seconds of sound",
    source: "mistral.ai/pricing, 2026-11-27",
    kind: "mistral",
    wire: "transcriptions",
    model: "voxtral-mini-2602",
    answer: { text: "Rain.", usage: { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 640 } },
    bill: [[203, "0.18", 3600]],
  },
  ...(
    [
      ["rerank-v3.5", "2"],
      ["rerank-v4.0-pro", "2.5"],
    ] as const
  ).map(
    ([model, usd]): VendorsBill => ({
      what: `searches of ${model}`,
      source: "cohere.com/pricing and openrouter.ai/cohere, 2026-11-27",
      kind: "cohere",
      wire: "rerank",
      model,
      answer: { id: "1", results: [], meta: { api_version: {}, billed_units: { search_units: 3 } } },
      bill: [[3, usd, 1000]],
    }),
  ),
];

const anthropic = (model: string, usage: object, more: object = {}) => ({
  id: "m1",
  type: "message",
  role: "assistant",
  model,
  content: [{ type: "text", text: "Rain." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1000, output_tokens: 500, ...usage },
  ...more,
});

const FALLBACKS = "platform.claude.com, refusals and fallback, and pricing, 2026-11-27";
const iteration = (type: string, model: string, output_tokens: number) => ({
  type,
  model,
  input_tokens: 1000,
  output_tokens,
  cache_read_input_tokens: 200,
  cache_creation_input_tokens: 0,
});

const TAKEOVERS: readonly VendorsBill[] = [
  {
    what: "a model that took over: its tokens at its price",
    source: FALLBACKS,
    kind: "anthropic",
    wire: "messages",
    model: "claude-fable-5",
    answer: anthropic("claude-fable-5", {
      iterations: [
        iteration("message", "claude-fable-5", 0),
        iteration("fallback_message", "claude-opus-4-8", 500),
      ],
    }),
    bill: [
      [1000, "5", MTOK],
      [200, "0.5", MTOK],
      [500, "25", MTOK],
    ],
    partial: true,
  },
  {
    what: "the same in a stream, where a model answers that took over in an earlier turn",
    source: FALLBACKS,
    kind: "anthropic",
    wire: "messages",
    model: "claude-fable-5",
    answer: [
      {
        type: "message_start",
        message: { model: "claude-fable-5", usage: { input_tokens: 1000, output_tokens: 1 } },
      },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Rain." } },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 500, iterations: [iteration("fallback_message", "claude-opus-4-8", 500)] },
      },
      { type: "message_stop" },
    ],
    bill: [
      [1000, "5", MTOK],
      [200, "0.5", MTOK],
      [500, "25", MTOK],
    ],
  },
];

const vertexAt = (location: string) =>
  `https://${location}-aiplatform.googleapis.com/v1/projects/p/locations/${location}`;
const CLAUDE_ON_VERTEX = "platform.claude.com, Claude on Vertex AI, 2026-11-27";
const RESIDENCY = "developers.openai.com/api/docs/guides/data-residency, 2026-11-27";
const AZURE_ZONES = "azure.microsoft.com, Azure OpenAI pricing, 2026-11-27";

type Place = Pick<VendorsBill, "kind" | "model" | "baseUrl" | "location" | "partial" | "source"> & {
  wire?: WireName;
  /** USD per million tokens of input and output. */
  usd: readonly [input: string, output: string];
};

const PLACES: readonly VendorsBill[] = [
  {
    what: "Opus 4.6 beyond 200,000 tokens, which cost more until 2026-03-13",
    source: "platform.claude.com, pricing, long context, 2026-11-27",
    kind: "vertex",
    wire: "messages",
    model: "claude-opus-4-6",
    baseUrl: vertexAt("global"),
    answer: anthropic("claude-opus-4-6", { input_tokens: 250_000, output_tokens: 300 }),
    bill: [
      [250_000, "5", MTOK],
      [300, "25", MTOK],
    ],
  },
  ...(
    [
      {
        kind: "vertex",
        model: "claude-sonnet-4-5@20250929",
        baseUrl: vertexAt("europe-west1"),
        usd: ["3.3", "16.5"],
        source: CLAUDE_ON_VERTEX,
      },
      {
        kind: "vertex",
        model: "claude-sonnet-4-5@20250929",
        baseUrl: vertexAt("global"),
        usd: ["3", "15"],
        source: CLAUDE_ON_VERTEX,
      },
      {
        kind: "vertex",
        model: "claude-opus-5",
        location: "eu",
        usd: ["5.5", "27.5"],
        source: CLAUDE_ON_VERTEX,
      },
      {
        kind: "vertex",
        model: "claude-sonnet-4@20250514",
        baseUrl: vertexAt("us-east5"),
        usd: ["3", "15"],
        source: CLAUDE_ON_VERTEX,
      },
      {
        kind: "vertex-openai",
        model: "google/gemini-3.5-flash",
        baseUrl: `${vertexAt("europe-west4")}/endpoints/openapi`,
        usd: ["1.65", "9.9"],
        source: "cloud.google.com/vertex-ai/generative-ai/pricing, 2026-10-07",
      },
      {
        kind: "vertex-openai",
        model: "google/gemini-2.5-flash",
        baseUrl: `${vertexAt("us-central1")}/endpoints/openapi`,
        usd: ["0.3", "2.5"],
        source: "cloud.google.com/vertex-ai/generative-ai/pricing, 2026-10-07",
      },
      {
        kind: "openai",
        model: "gpt-5.4",
        baseUrl: "https://eu.api.openai.com/v1",
        usd: ["2.75", "16.5"],
        source: RESIDENCY,
      },
      {
        kind: "openai",
        model: "gpt-5.4",
        baseUrl: "https://api.openai.com/v1",
        usd: ["2.5", "15"],
        source: RESIDENCY,
      },
      {
        kind: "openai",
        model: "gpt-4o",
        baseUrl: "https://us.api.openai.com/v1",
        usd: ["2.5", "10"],
        source: RESIDENCY,
      },
      {
        kind: "openai",
        model: "gpt-5.4",
        location: "global",
        baseUrl: "https://eu.api.openai.com/v1",
        usd: ["2.5", "15"],
        source: RESIDENCY,
      },
      { kind: "azure", model: "gpt-5.1", location: "data_zone", usd: ["1.375", "11"], source: AZURE_ZONES },
      { kind: "azure", model: "gpt-5.1", usd: ["1.25", "10"], source: AZURE_ZONES },
      {
        kind: "azure",
        model: "phi-4",
        location: "data_zone",
        usd: ["0.07", "0.14"],
        source: AZURE_ZONES,
        partial: true,
      },
      {
        kind: "bedrock",
        model: "anthropic.claude-sonnet-4-6",
        baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com",
        usd: ["3.3", "16.5"],
        source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
      },
      {
        kind: "bedrock-openai",
        model: "openai.gpt-5.6-sol",
        usd: ["4.4", "22"],
        source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
      },
      {
        kind: "bedrock-openai",
        model: "global.openai.gpt-5.6-sol",
        usd: ["4", "20"],
        source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
      },
      {
        kind: "bedrock",
        model: "global.anthropic.claude-sonnet-4-6",
        baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com",
        usd: ["3", "15"],
        source: "aws.amazon.com/bedrock/pricing, 2026-11-27",
      },
    ] satisfies Place[]
  ).map(({ usd: [input, output], ...it }: Place): VendorsBill => {
    const isClaude = it.model.includes("claude");
    return {
      ...it,
      what: `${it.model} at ${it.location ?? it.baseUrl ?? "an address without a place"}`,
      wire: isClaude ? "messages" : "chat",
      answer: isClaude ? anthropic(it.model, {}) : chat(it.model),
      bill: [
        [1000, input, MTOK],
        [500, output, MTOK],
      ],
    };
  }),
];

/** Members of usage, and models' price keys, that nobody knows yet, beside those that are read. */
const OF_TOMORROW: readonly VendorsBill[] = [
  ...[{ hologram_tokens: 7 }, { prompt_tokens_details: { smell_tokens: 7 } }, { searches: { deep: 1 } }].map(
    (usage): VendorsBill => ({
      what: `usage that is not known: ${JSON.stringify(usage)}`,
      source: "the list's price of the tokens",
      kind: "openai",
      wire: "chat",
      model: "gpt-5.4",
      answer: chat("gpt-5.4", {}, usage),
      bill: [
        [1000, "2.5", MTOK],
        [500, "15", MTOK],
      ],
      partial: true,
    }),
  ),
  ...[
    { queue_time: 0.1, total_time: 3, completion_tokens_per_sec: 80 },
    { latency_checkpoint: { engine_ttft_ms: 80, total_duration_ms: 900 }, request_count: 1 },
    { hologram_tokens: 0, prompt_tokens_details: { smell_tokens: null }, note: "free" },
    { completion_tokens_details: { rejected_prediction_tokens: 3, accepted_prediction_tokens: 4 } },
  ].map(
    (usage): VendorsBill => ({
      what: `usage that costs nothing besides: ${JSON.stringify(usage)}`,
      source: "console.groq.com/docs and platform.openai.com, 2026-11-27",
      kind: "openai",
      wire: "chat",
      model: "gpt-5.4",
      answer: chat("gpt-5.4", {}, usage),
      bill: [
        [1000, "2.5", MTOK],
        [500, "15", MTOK],
      ],
    }),
  ),
  {
    what: "cache writes that are kept for a time that is not known",
    source: "the list's price of the tokens",
    kind: "anthropic",
    wire: "messages",
    model: "claude-opus-4-6",
    answer: anthropic("claude-opus-4-6", { cache_creation: { ephemeral_24h_input_tokens: 100 } }),
    bill: [
      [1000, "5", MTOK],
      [500, "25", MTOK],
    ],
    partial: true,
  },
  {
    what: "an item of Responses that is not known",
    source: "the list's price of the tokens",
    kind: "openai",
    wire: "responses",
    model: "gpt-5.4",
    answer: response("gpt-5.4", [
      { type: "message", content: [] },
      { type: "hologram", id: "h_1" },
    ]),
    bill: [
      [1000, "2.5", MTOK],
      [500, "15", MTOK],
    ],
    partial: true,
  },
  {
    what: "a unit of a reranker that is not known",
    source: "cohere.com/pricing, 2026-11-27",
    kind: "cohere",
    wire: "rerank",
    model: "rerank-v3.5",
    answer: { results: [], meta: { billed_units: { search_units: 1, holograms: 2 } } },
    bill: [[1, "2", 1000]],
    partial: true,
  },
  {
    what: "usage of a transcription that is not known",
    source: "developers.openai.com/api/docs/pricing, 2026-11-27",
    kind: "openai",
    wire: "transcriptions",
    model: "gpt-4o-transcribe",
    answer: {
      text: "Rain.",
      usage: {
        type: "tokens",
        input_tokens: 1000,
        input_token_details: { audio_tokens: 900, text_tokens: 100 },
        output_tokens: 500,
        total_tokens: 1500,
        hologram_tokens: 3,
      },
    },
    bill: [
      [100, "2.5", MTOK],
      [900, "6", MTOK],
      [500, "10", MTOK],
    ],
    partial: true,
  },
  {
    what: "usage of Responses that is not known",
    source: "the list's price of the tokens",
    kind: "openai",
    wire: "responses",
    model: "gpt-5.4",
    answer: response("gpt-5.4", [], {}, { output_tokens_details: { hologram_tokens: 9 } }),
    bill: [
      [1000, "2.5", MTOK],
      [500, "15", MTOK],
    ],
    partial: true,
  },
  {
    what: "usage of Gemini that is not known",
    source: "the list's price of the tokens",
    kind: "gemini",
    wire: "gemini",
    model: "gemini-2.5-flash",
    answer: gemini("gemini-2.5-flash", { ...GEMINI_TOKENS, hologramTokenCount: 9 }),
    bill: [
      [1000, "0.3", MTOK],
      [500, "2.5", MTOK],
    ],
    partial: true,
  },
];

export const VENDORS_BILLS: readonly VendorsBill[] = [
  ...TIERS,
  ...FEES,
  ...GROUNDED,
  ...UNITS,
  ...TAKEOVERS,
  ...PLACES,
  ...OF_TOMORROW,
];
