import { inputTokens, type Usage } from "#shared/usage.ts";

const written = ({ cacheWrite5mTokens, cacheWrite1hTokens }: Usage): number =>
  (cacheWrite5mTokens ?? 0) + (cacheWrite1hTokens ?? 0);

/** Counts in the chat format; null if the provider reported none. */
export function chatCounts(usage: Usage): object | null {
  const input = inputTokens(usage);
  if (input === null && usage.outputTokens === null) return null;
  const [prompt, completion] = [input ?? 0, usage.outputTokens ?? 0];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0, cache_write_tokens: written(usage) },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  };
}

/** Counts in the messages format, whose input leaves cached tokens out. Its clients expect every member to be there. */
export const messagesCounts = (usage: Usage) => ({
  input_tokens: usage.uncachedInputTokens ?? 0,
  cache_creation_input_tokens: written(usage),
  cache_read_input_tokens: usage.cacheReadTokens ?? 0,
  output_tokens: usage.outputTokens ?? 0,
  output_tokens_details: usage.reasoningTokens === null ? null : { thinking_tokens: usage.reasoningTokens },
  server_tool_use: usage.webSearches
    ? { web_search_requests: usage.webSearches, web_fetch_requests: 0 }
    : null,
});

/** Counts in the responses format; null if the provider reported none. */
export function responsesCounts(usage: Usage): object | null {
  const input = inputTokens(usage);
  if (input === null && usage.outputTokens === null) return null;
  const [given, made] = [input ?? 0, usage.outputTokens ?? 0];
  return {
    input_tokens: given,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0, cache_write_tokens: written(usage) },
    output_tokens: made,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: given + made,
  };
}
