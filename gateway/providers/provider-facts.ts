import type { PriceFacts } from "../price-facts.ts";
import { OPENAI_WIRES, type SurfaceName, type WireName } from "../surface-facts.ts";
import type { LocationFacts } from "./places.ts";
import type { ReportedCost } from "./reported-cost.ts";

/** Facts about a provider kind. */
export type ProviderFacts = PriceFacts & {
  /** Wires that it also supports natively, at the same root. */
  otherWires: readonly WireName[];
  /** Surfaces of those wires that it has no address for. */
  lacks?: readonly SurfaceName[];
  /** The wires that its vendor invented: of several providers, a call without a model means this one. */
  inventorOf?: readonly WireName[];
  /** API root without a trailing slash, as the vendor's SDK expects it; null if an administrator must set one. */
  baseUrl: string | null;
  /** Path to add to a root without one, because the vendor's SDK takes the bare host. */
  rootPath?: string;
  /**
   * Where Gemini's own format is: this ending of the root replaced by that one. Calls of `models` are translated into it, because
   * Google's address in OpenAI's format numbers parallel calls wrongly.
   */
  geminiRoot?: { instead: string; put: string; models: RegExp };
  /** Deviations from a surface's `upstreamPath`. */
  paths?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** Has OpenAI's addresses below `/responses` as well: token counts and compaction. */
  allResponses?: boolean;
  /** Takes responses over WebSockets (OpenAI's guide "WebSocket mode"; docs.x.ai, "WebSocket Mode"). */
  responsesSocket?: boolean;
  /** Models that calls of other formats reach by responses: chat completions have neither their thoughts nor, for some, tools. */
  responsesModels?: RegExp;
  /** Models that have no chat completions. */
  withoutChat?: RegExp;
  /** Paths of surfaces that are relative to the host, not to the API root. */
  hostPaths?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** How the credential is sent; `none`: not needed, a set one is a bearer token. `aws` and `google` sign each call. */
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
  /** Whose thoughts its models have, where not its own, and how it takes them back in the chat format. */
  thoughts?: { vendor?: string; in?: "reasoning_content" | "reasoning_details" };
  /** Where ids of calls must be this long, and alphanumeric. */
  toolIdLength?: number;
  /** Takes Anthropic's cache marks in the chat format. */
  cacheMarks?: boolean;
  /** `total_tokens` = prompt + completion + reasoning: the output is the total less the prompt. */
  reasoningOutsideCompletion: boolean;
  reportedCost?: ReportedCost;
  /** The vendor's own search tool in the chat format, whose calls it bills. */
  searchTool?: string;
  /** Where it runs models, and what that costs. */
  places?: LocationFacts;
};

const BESIDE_CHAT = [...OPENAI_WIRES, "rerank"] as const satisfies readonly WireName[];

/** OpenAI's reasoning models; gpt-5.4 and later refuse functions by chat completions, because they reason unasked. */
const OPENAI_REASONING = /^(?:gpt-5(?![.\d]*-chat)|gpt-[6-9]|o\d|codex-)/;
/** Source: the vendor's pages of these models, which list responses only. */
const OPENAI_WITHOUT_CHAT =
  /^(?:gpt-\d[.\d]*-(?:codex|pro)|codex-|o[13]-pro|o\d(?:-mini)?-deep-research|computer-use-)/;

/** What models of OpenAI's have wherever they run. */
export const OPENAI_MODELS = {
  allResponses: true,
  responsesModels: OPENAI_REASONING,
  withoutChat: OPENAI_WITHOUT_CHAT,
} as const satisfies Partial<ProviderFacts>;

/** All of them but those that the vendor has no address for. */
export const without = (...missing: readonly WireName[]): WireName[] =>
  BESIDE_CHAT.filter((wire) => !missing.includes(wire));

/** Facts shared by most providers that copy OpenAI's chat wire. */
export const OPENAI_LIKE = {
  wire: "chat",
  otherWires: BESIDE_CHAT,
  baseUrl: null,
  auth: "bearer",
  envKey: null,
  vendorHosts: [],
  acceptsStreamUsageOption: true,
  outputLimitMember: "max_tokens",
  reasoningOutsideCompletion: false,
  priceIds: [],
} as const satisfies ProviderFacts;

export const TEXT_ONLY = ["responses"] as const satisfies readonly WireName[];
export const TEXT_AND_EMBEDDINGS = [...TEXT_ONLY, "embeddings"] as const satisfies readonly WireName[];
export const IMAGE_UPLOADS = ["images.edits", "images.variations"] as const satisfies readonly SurfaceName[];

export const ANTHROPIC_LIKE = {
  ...OPENAI_LIKE,
  wire: "messages",
  otherWires: [],
  auth: "x-api-key",
  // The vendor reads its signatures on every cloud.
  thoughts: { vendor: "anthropic" },
} as const satisfies ProviderFacts;

/** A vendor that differs from OpenAI in its address, key, prices and features. */
export const vendor = <const T extends Partial<ProviderFacts>>(
  [baseUrl, envKey]: readonly [string, string],
  facts: T,
) => ({ ...OPENAI_LIKE, baseUrl, envKey, ...facts });
