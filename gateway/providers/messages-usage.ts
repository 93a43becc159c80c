import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, listOf, nameOf, objectOf, type ProviderObject, partOf, sumOf } from "./provider-json.ts";

/** What `usage.iterations` may hold that the counts of the whole answer leave out, though it is billed (Anthropic's API). */
const COMPACTION = "compaction";
const FALLBACK = "fallback_message";
/** Types of iterations of which every token is in the record. */
const COUNTED = new Set<unknown>(["message", FALLBACK, COMPACTION]);

const iterationsOf = (told: ProviderObject): ProviderObject[] =>
  listOf(told["iterations"])
    .map(objectOf)
    .filter((one) => one !== null);

/**
 * Anthropic's counts in the normal form. `input_tokens` excludes cache reads and writes; any field may be null. What
 * summing up an earlier context used is told in `iterations` alone, and belongs to the call.
 */
export function messagesUsage(told: ProviderObject): Usage {
  const compactions = iterationsOf(told).filter(({ type }) => type === COMPACTION);
  return compactions.map(tokensOf).reduce(together, {
    ...tokensOf(told),
    webSearches: countOf(objectOf(told["server_tool_use"])?.["web_search_requests"]),
  });
}

/** Whether more is billed than is counted here: an adviser's tokens, say, which have the price of another model. */
export const billsMore = (told: ProviderObject): boolean =>
  iterationsOf(told).some(({ type }) => !COUNTED.has(type));

function tokensOf(told: ProviderObject): Usage {
  const input = countOf(told["input_tokens"]);
  const cacheRead = countOf(told["cache_read_input_tokens"]);
  const written = writesOf(told);
  const output = countOf(told["output_tokens"]);
  const thinking = countOf(objectOf(told["output_tokens_details"])?.["thinking_tokens"]);
  const believable = sumOf(input, cacheRead, written.fiveMinutes, written.hour) !== null;
  return {
    ...NO_USAGE,
    uncachedInputTokens: believable ? input : null,
    cacheReadTokens: believable ? cacheRead : null,
    cacheWrite5mTokens: believable ? written.fiveMinutes : null,
    cacheWrite1hTokens: believable ? written.hour : null,
    outputTokens: output,
    reasoningTokens: partOf(thinking, output),
  };
}

function together(a: Usage, b: Usage): Usage {
  const whole = (count: keyof Usage) =>
    a[count] === null || b[count] === null ? null : sumOf(a[count], b[count]);
  const part = (count: keyof Usage) =>
    a[count] === null && b[count] === null ? null : sumOf(a[count], b[count]);
  return {
    ...a,
    uncachedInputTokens: whole("uncachedInputTokens"),
    cacheReadTokens: part("cacheReadTokens"),
    cacheWrite5mTokens: part("cacheWrite5mTokens"),
    cacheWrite1hTokens: part("cacheWrite1hTokens"),
    outputTokens: whole("outputTokens"),
  };
}

/** `cache_creation_input_tokens` is the sum; what the split does not name was kept for 5 minutes, the default. */
function writesOf(told: ProviderObject): { fiveMinutes: number | null; hour: number | null } {
  const split = objectOf(told["cache_creation"]);
  const total = countOf(told["cache_creation_input_tokens"]);
  const hour = countOf(split?.["ephemeral_1h_input_tokens"]);
  const fiveMinutes = countOf(split?.["ephemeral_5m_input_tokens"]);
  const consistent = total !== null && total >= (hour ?? 0);
  return { fiveMinutes: consistent ? total - (hour ?? 0) : fiveMinutes, hour };
}

/** Tiers of Anthropic's at which the list's prices hold. */
const USUAL_TIERS = new Set<string | null>([null, "standard"]);

/**
 * `fast` where the answer was given in fast mode, `fallback` where another model took over at the vendor's: both are priced
 * apart. Else the tier that the provider names; `us` where that is the usual one and the answer was made in the US alone,
 * which costs more (`usage.inference_geo`).
 */
export function messagesTier(usage: ProviderObject): string | null {
  if (usage["speed"] === "fast") return "fast";
  if (iterationsOf(usage).some(({ type }) => type === FALLBACK)) return "fallback";
  const tier = nameOf(usage["service_tier"]);
  return usage["inference_geo"] === "us" && USUAL_TIERS.has(tier) ? "us" : tier;
}

/** `earlier` overlaid by `later`: figures are cumulative, so of each field the last that is not null counts. */
export function overlay(earlier: ProviderObject, later: ProviderObject): ProviderObject {
  const merged: Record<string, unknown> = { ...earlier };
  for (const [name, value] of Object.entries(later)) {
    if (value === null) continue;
    const before = objectOf(merged[name]);
    const after = objectOf(value);
    merged[name] = before && after ? { ...before, ...after } : value;
  }
  return merged;
}
