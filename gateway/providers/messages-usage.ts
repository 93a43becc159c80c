import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { ProviderObject } from "./provider-json.ts";
import { addUsage, countOf, listOf, nameOf, objectOf, partOf, sumOf } from "./provider-json.ts";
import { hasUnknown, MESSAGES_MEMBERS } from "./usage-members.ts";

/** An iteration that the counts of the whole answer leave out, though it is billed (Anthropic's API). */
const COMPACTION = "compaction";
const FALLBACK = "fallback_message";
/** Types of iterations whose tokens are all recorded, unless a model took over. */
const COUNTED = new Set<unknown>(["message", COMPACTION]);

const iterationsOf = (usage: ProviderObject): ProviderObject[] =>
  listOf(usage["iterations"])
    .map(objectOf)
    .filter((one) => one !== null);

/** The last iteration, by a model that took over because the one before declined; null: none did. */
const takeover = (usage: ProviderObject): ProviderObject | null =>
  iterationsOf(usage).findLast(({ type }) => type === FALLBACK) ?? null;

/** The model that took over, which gave the answer; null: none did. */
export const takenOverBy = (usage: ProviderObject): string | null => nameOf(takeover(usage)?.["model"]);

/** Whether an iteration is of the model that took over. */
const isTakers = ({ type, model }: ProviderObject, taker: ProviderObject): boolean =>
  type === FALLBACK || (type === "message" && typeof model === "string" && model === taker["model"]);

/**
 * Anthropic's counts in the normal form. `input_tokens` excludes cache reads and writes; any field may be null. The
 * tokens that compacting an earlier context took are in `iterations` alone, and belong to the call. Where a model took over,
 * only its tokens count, because those of the others have other prices.
 */
export function messagesUsage(usage: ProviderObject): Usage {
  const [iterations, taker] = [iterationsOf(usage), takeover(usage)];
  const webSearches = countOf(objectOf(usage["server_tool_use"])?.["web_search_requests"]);
  if (taker) {
    const own = iterations.filter((one) => isTakers(one, taker)).map(tokensOf);
    return { ...own.reduce(withIteration), webSearches };
  }
  const compactions = iterations.filter(({ type }) => type === COMPACTION).map(tokensOf);
  return compactions.reduce(withIteration, { ...tokensOf(usage), webSearches });
}

/** Uses of Anthropic's tools that are counted, or that cost nothing but their tokens. */
const ACCOUNTED_USES = new Set(["web_search_requests", "web_fetch_requests", "tool_search_requests"]);

/** What has a price of its own, and its values whose prices are known. */
const PRICED_VALUES: Readonly<Record<string, readonly (string | null)[]>> = {
  inference_geo: [null, "us", "global", "not_available"],
  speed: [null, "fast", "standard"],
};

/**
 * Whether more is billed than counted here, such as an advisor's tokens at another model's price, those of a model that
 * declined, or the time of a container that runs code. A use of a tool, a place or a speed that is not known yet counts as billed.
 */
export function billsMore(usage: ProviderObject): boolean {
  const taker = takeover(usage);
  const isCounted = (one: ProviderObject) => (taker ? isTakers(one, taker) : COUNTED.has(one["type"]));
  return (
    hasUnknown(usage, MESSAGES_MEMBERS) ||
    Object.entries(PRICED_VALUES).some(([name, known]) => !known.includes(nameOf(usage[name]))) ||
    iterationsOf(usage).some((one) => !isCounted(one)) ||
    Object.entries(objectOf(usage["server_tool_use"]) ?? {}).some(
      ([name, uses]) => !ACCOUNTED_USES.has(name) && uses !== null && uses !== 0,
    )
  );
}

/** Tools that Anthropic runs, and bills by counts that the usage reports or not at all. */
const ACCOUNTED_TOOLS = new Set<unknown>([
  "web_search",
  "web_fetch",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
]);

/** Whether a block of the answer calls a tool whose use is billed by a figure that no answer reports. */
export const isBilledBlock = (block: ProviderObject | null): boolean =>
  block?.["type"] === "server_tool_use" && !ACCOUNTED_TOOLS.has(block["name"]);

function tokensOf(usage: ProviderObject): Usage {
  const input = countOf(usage["input_tokens"]);
  const cacheRead = countOf(usage["cache_read_input_tokens"]);
  const written = writesOf(usage);
  const output = countOf(usage["output_tokens"]);
  const thinking = countOf(objectOf(usage["output_tokens_details"])?.["thinking_tokens"]);
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

/** If either usage lacks the input or output, their sum is unknown. */
function withIteration(whole: Usage, iteration: Usage): Usage {
  const sum = addUsage(whole, { ...iteration, reasoningTokens: null });
  const sumOfBoth = (count: keyof Usage) =>
    whole[count] === null || iteration[count] === null ? null : sum[count];
  return {
    ...sum,
    uncachedInputTokens: sumOfBoth("uncachedInputTokens"),
    outputTokens: sumOfBoth("outputTokens"),
  };
}

/** `cache_creation_input_tokens` is the sum; tokens missing in the split were cached for 5 minutes, the default. */
function writesOf(usage: ProviderObject): { fiveMinutes: number | null; hour: number | null } {
  const split = objectOf(usage["cache_creation"]);
  const total = countOf(usage["cache_creation_input_tokens"]);
  const hour = countOf(split?.["ephemeral_1h_input_tokens"]);
  const fiveMinutes = countOf(split?.["ephemeral_5m_input_tokens"]);
  const consistent = total !== null && total >= (hour ?? 0);
  return { fiveMinutes: consistent ? total - (hour ?? 0) : fiveMinutes, hour };
}

/** Anthropic's tiers to which the list's prices apply. */
const USUAL_TIERS = new Set<string | null>([null, "standard"]);

/**
 * The tier that the answer was given in: `fast` in fast mode, else as the provider names it; `us`, or the tier with `_us`
 * behind it, where it was made in the US alone, which costs more (`usage.inference_geo`).
 */
export function messagesTier(usage: ProviderObject): string | null {
  const tier = usage["speed"] === "fast" ? "fast" : nameOf(usage["service_tier"]);
  if (usage["inference_geo"] !== "us") return tier;
  return USUAL_TIERS.has(tier) ? "us" : `${tier}_us`;
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
