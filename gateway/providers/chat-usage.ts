import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { ProviderFacts } from "./catalog.ts";
import { countOf, listOf, objectOf, partOf, sumOf, type Told } from "./provider-json.ts";

/**
 * The usage object of an answer or chunk of the chat wire, wherever the provider puts it: at the top, under `x_groq`
 * (Groq's streams, sometimes beside one at the top: then they are the same), or on the choice (Moonshot's streams).
 */
export const usageIn = (told: Told): Told | null =>
  objectOf(told["usage"]) ??
  objectOf(objectOf(told["x_groq"])?.["usage"]) ??
  objectOf(objectOf(listOf(told["choices"])[0])?.["usage"]);

/** The chat wire's counts in the normal form. `prompt_tokens` includes cached ones, `completion_tokens` reasoning. */
export function chatUsage(told: Told, facts: ProviderFacts): Usage {
  const prompt = countOf(told["prompt_tokens"]);
  const promptDetails = objectOf(told["prompt_tokens_details"]);
  const completionDetails = objectOf(told["completion_tokens_details"]);
  const reasoning = countOf(completionDetails?.["reasoning_tokens"]);
  const output = outputOf(told, prompt, reasoning, facts);
  const cacheRead = cacheReadOf(told, promptDetails);
  const cacheWrite = countOf(promptDetails?.["cache_write_tokens"]);
  // Cached counts that exceed the prompt they are part of cannot be right; the prompt's own figure stands.
  const cached = partOf(sumOf(cacheRead, cacheWrite), prompt);
  return {
    ...NO_USAGE,
    uncachedInputTokens: prompt === null ? null : prompt - (cached ?? 0),
    cacheReadTokens: cached === null ? null : cacheRead,
    cacheWrite5mTokens: cached === null ? null : cacheWrite,
    outputTokens: output,
    reasoningTokens: partOf(reasoning, output),
    audioInputTokens: partOf(countOf(promptDetails?.["audio_tokens"]), prompt),
    audioOutputTokens: partOf(countOf(completionDetails?.["audio_tokens"]), output),
  };
}

/** OpenAI's field, DeepSeek's, Moonshot's. */
const cacheReadOf = (told: Told, promptDetails: Told | null): number | null =>
  countOf(promptDetails?.["cached_tokens"]) ??
  countOf(told["prompt_cache_hit_tokens"]) ??
  countOf(told["cached_tokens"]);

function outputOf(
  told: Told,
  prompt: number | null,
  reasoning: number | null,
  { reasoningOutsideCompletion }: ProviderFacts,
): number | null {
  const completion = countOf(told["completion_tokens"]);
  const total = countOf(told["total_tokens"]);
  const rest = total !== null && prompt !== null && total >= prompt ? total - prompt : null;
  if (completion === null || rest === null) {
    return completion !== null && reasoningOutsideCompletion
      ? sumOf(completion, reasoning)
      : (completion ?? rest);
  }
  // The total tells by itself that reasoning was counted apart, whoever the provider is.
  const apart = rest > completion && (reasoningOutsideCompletion || rest - completion === reasoning);
  return apart ? rest : completion;
}
