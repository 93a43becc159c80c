import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, inputParts, objectOf, type ProviderObject, partOf } from "./provider-json.ts";

/** `input_tokens` and `output_tokens` in normal form: the input includes cached tokens, the output reasoning (OpenAI). */
export function responsesUsage(usage: ProviderObject): Usage {
  const input = countOf(usage["input_tokens"]);
  const output = countOf(usage["output_tokens"]);
  const details = objectOf(usage["input_tokens_details"]);
  const parts = inputParts(input, { read: countOf(details?.["cached_tokens"]), ...writesOf(details) });
  const outputDetails = objectOf(usage["output_tokens_details"]);
  return {
    ...NO_USAGE,
    ...parts,
    outputTokens: output,
    reasoningTokens: partOf(countOf(outputDetails?.["reasoning_tokens"]), output),
    imageInputTokens: partOf(countOf(details?.["image_tokens"]), parts.uncachedInputTokens),
    imageOutputTokens: partOf(countOf(outputDetails?.["image_tokens"]), output),
    searchSources: countOf(usage["num_sources_used"]) || null,
  };
}

/** `cache_write_tokens` is the sum. Writes kept for 12 hours count as longer ones, unsplit tokens as shorter ones. */
function writesOf(details: ProviderObject | null): { written: number | null; long: number | null } {
  const split = objectOf(details?.["cache_write_tokens_details"]);
  const total = countOf(details?.["cache_write_tokens"]);
  const long = countOf(split?.["ttl_12h_tokens"]);
  const consistent = total !== null && total >= (long ?? 0);
  return { written: consistent ? total - (long ?? 0) : countOf(split?.["ttl_30m_tokens"]), long };
}
