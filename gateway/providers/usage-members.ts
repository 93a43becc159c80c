import { words } from "#shared/words.ts";
import { objectOf, type ProviderObject } from "./provider-json.ts";

/** The members of a usage object that are read, or known not to be billed besides; `true` covers what is inside. */
export type UsageMembers = { readonly [member: string]: true | UsageMembers };

const known = (names: string): UsageMembers =>
  Object.fromEntries(words(names).map((name) => [name, true as const]));

/** A vendor's own figure of the cost (reported-cost.ts), and its tools, which `ranHostedTools` judges. */
const COSTS = known(`
  cost cost_details cost_in_usd_ticks estimated_cost num_server_side_tools_used num_sources_used
  server_side_tool_usage_details
`);

/** OpenAI's chat completions and their variants: parts of the prompt and the completion, and other names for them. */
export const CHAT_MEMBERS: UsageMembers = {
  ...COSTS,
  ...known("prompt_tokens completion_tokens total_tokens input_tokens output_tokens"),
  ...known("cached_tokens num_cached_tokens cache_read_input_tokens reasoning_tokens"),
  ...known("prompt_cache_hit_tokens prompt_cache_miss_tokens"),
  // Perplexity bills a request, and what its deep research reads as the list says; DashScope and Mistral repeat details.
  ...known("citation_tokens num_search_queries x_details prompt_token_details request_count"),
  prompt_tokens_details: known(`
    cached_tokens cache_write_tokens audio_tokens image_tokens video_tokens text_tokens
  `),
  completion_tokens_details: known(`
    reasoning_tokens audio_tokens image_tokens text_tokens accepted_prediction_tokens
    rejected_prediction_tokens
  `),
};

/** OpenAI's responses, images and speech. */
export const RESPONSES_MEMBERS: UsageMembers = {
  ...COSTS,
  ...known("input_tokens output_tokens total_tokens"),
  input_tokens_details: {
    ...known("cached_tokens cache_write_tokens image_tokens text_tokens"),
    cache_write_tokens_details: known("ttl_30m_tokens ttl_12h_tokens"),
  },
  output_tokens_details: known("reasoning_tokens image_tokens text_tokens"),
};

/** Transcriptions, by tokens or by seconds. */
export const TRANSCRIPTION_MEMBERS: UsageMembers = {
  ...CHAT_MEMBERS,
  ...known("seconds prompt_audio_seconds"),
  input_token_details: known("audio_tokens text_tokens"),
};

/** OpenAI's realtime responses. */
export const REALTIME_MEMBERS: UsageMembers = {
  ...known("input_tokens output_tokens total_tokens"),
  input_token_details: {
    ...known("cached_tokens text_tokens audio_tokens image_tokens"),
    cached_tokens_details: known("text_tokens audio_tokens image_tokens"),
  },
  output_token_details: known("text_tokens audio_tokens"),
};

/** Anthropic's messages; its iterations and its tools are judged apart. */
export const MESSAGES_MEMBERS: UsageMembers = {
  ...known("input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens"),
  ...known("output_tokens_details server_tool_use iterations"),
  ...known("prompt_tokens completion_tokens total_tokens cached_tokens"),
  cache_creation: known("ephemeral_5m_input_tokens ephemeral_1h_input_tokens"),
};

export const GEMINI_MEMBERS: UsageMembers = known(`
  promptTokenCount toolUsePromptTokenCount cachedContentTokenCount candidatesTokenCount thoughtsTokenCount
  totalTokenCount promptTokensDetails toolUsePromptTokensDetails cacheTokensDetails candidatesTokensDetails
`);

/** Names of how long an answer took, how fast it was or when it was made, which no vendor bills. */
const TIMING = /time|latency|duration|speed|per_sec|rate$|_[mn]s$/i;

/** Whether a usage object has a figure over 0 in a member that is not known: it may be billed. */
export function hasUnknown(usage: ProviderObject | null, members: UsageMembers): boolean {
  return Object.entries(usage ?? {}).some(([name, value]) => {
    const inside = Object.hasOwn(members, name) ? members[name] : TIMING.test(name) ? true : {};
    if (inside === true || inside === undefined) return false;
    return typeof value === "number" ? value > 0 : hasUnknown(objectOf(value), inside);
  });
}
