import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import type { ProviderObject } from "./provider-json.ts";
import { countOf, inputParts, listOf, objectOf, partOf, sumOf } from "./provider-json.ts";

/**
 * The usage object of an answer or chunk of the chat wire, wherever the provider puts it: at the top, under `x_groq`
 * (Groq's streams, sometimes beside one at the top: then they are the same), or on the choice (Moonshot's streams).
 */
export const usageIn = (answer: ProviderObject): ProviderObject | null =>
  objectOf(answer["usage"]) ??
  objectOf(objectOf(answer["x_groq"])?.["usage"]) ??
  objectOf(objectOf(listOf(answer["choices"])[0])?.["usage"]);

/** The chat wire's counts in the normal form. `prompt_tokens` includes cached ones, `completion_tokens` reasoning. */
export function chatUsage(usage: ProviderObject, facts: ProviderFacts): Usage {
  const prompt = countOf(usage["prompt_tokens"]);
  const promptDetails = objectOf(usage["prompt_tokens_details"]);
  const completionDetails = objectOf(usage["completion_tokens_details"]);
  const reasoning = countOf(completionDetails?.["reasoning_tokens"]);
  const output = outputOf(usage, { prompt, reasoning }, facts);
  const read = cacheReadOf(usage, promptDetails);
  return {
    ...NO_USAGE,
    ...inputParts(prompt, { read, written: countOf(promptDetails?.["cache_write_tokens"]) }),
    outputTokens: output,
    reasoningTokens: partOf(reasoning, output),
    audioInputTokens: partOf(countOf(promptDetails?.["audio_tokens"]), prompt),
    audioOutputTokens: partOf(countOf(completionDetails?.["audio_tokens"]), output),
    imageInputTokens: partOf(countOf(promptDetails?.["image_tokens"]) || null, prompt),
    imageOutputTokens: partOf(countOf(completionDetails?.["image_tokens"]) || null, output),
    // xAI reports the figure with every answer; 0 is no search at all.
    searchSources: countOf(usage["num_sources_used"]) || null,
  };
}

/** OpenAI's field, DeepSeek's, Moonshot's, Mistral's. */
const cacheReadOf = (usage: ProviderObject, promptDetails: ProviderObject | null): number | null =>
  countOf(promptDetails?.["cached_tokens"]) ??
  countOf(usage["prompt_cache_hit_tokens"]) ??
  countOf(usage["cached_tokens"]) ??
  countOf(usage["num_cached_tokens"]);

function outputOf(
  usage: ProviderObject,
  { prompt, reasoning }: { prompt: number | null; reasoning: number | null },
  { reasoningOutsideCompletion }: ProviderFacts,
): number | null {
  const completion = countOf(usage["completion_tokens"]);
  const total = countOf(usage["total_tokens"]);
  const rest = total !== null && prompt !== null && total >= prompt ? total - prompt : null;
  if (completion === null || rest === null) {
    return completion !== null && reasoningOutsideCompletion
      ? sumOf(completion, reasoning)
      : (completion ?? rest);
  }
  // Whoever the provider is, such a total shows that reasoning was counted separately.
  const apart = rest > completion && (reasoningOutsideCompletion || rest - completion === reasoning);
  return apart ? rest : completion;
}
