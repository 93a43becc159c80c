import { NO_USAGE, type Usage } from "#shared/usage.ts";
import {
  addUsage,
  countOf,
  listOf,
  nameOf,
  objectOf,
  type ProviderObject,
  partOf,
  sumOf,
} from "./provider-json.ts";
import { hasUnknown, MESSAGES_MEMBERS } from "./usage-members.ts";

/** Iterations that the counts of the whole answer leave out, though they are billed (Anthropic's API). */
const COMPACTION = "compaction";
const FALLBACK = "fallback_message";
/** Types of iterations whose tokens are all recorded. */
const COUNTED = new Set<unknown>(["message", FALLBACK, COMPACTION]);

const iterationsOf = (usage: ProviderObject): ProviderObject[] =>
  listOf(usage["iterations"])
    .map(objectOf)
    .filter((one) => one !== null);

/**
 * Anthropic's counts in the normal form. `input_tokens` excludes cache reads and writes; any field may be null. The
 * tokens that compacting an earlier context took are in `iterations` alone, and belong to the call.
 */
export function messagesUsage(usage: ProviderObject): Usage {
  const compactions = iterationsOf(usage).filter(({ type }) => type === COMPACTION);
  const whole = {
    ...tokensOf(usage),
    webSearches: countOf(objectOf(usage["server_tool_use"])?.["web_search_requests"]),
  };
  return compactions.map(tokensOf).reduce(withCompaction, whole);
}

/** Uses of Anthropic's tools that are counted, or that cost nothing but their tokens. */
const ACCOUNTED_USES = new Set(["web_search_requests", "web_fetch_requests", "tool_search_requests"]);

/**
 * Whether more is billed than counted here, such as an advisor's tokens at another model's price, or the time of a
 * container that runs code. A use of a tool that is not known yet counts as billed.
 */
export const billsMore = (usage: ProviderObject): boolean =>
  hasUnknown(usage, MESSAGES_MEMBERS) ||
  iterationsOf(usage).some(({ type }) => !COUNTED.has(type)) ||
  Object.entries(objectOf(usage["server_tool_use"]) ?? {}).some(
    ([name, uses]) => !ACCOUNTED_USES.has(name) && uses !== null && uses !== 0,
  );

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
function withCompaction(whole: Usage, compaction: Usage): Usage {
  const sum = addUsage(whole, { ...compaction, reasoningTokens: null });
  const sumOfBoth = (count: keyof Usage) =>
    whole[count] === null || compaction[count] === null ? null : sum[count];
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
 * `fast` where the answer was given in fast mode, `fallback` where another model took over at the vendor's: both are priced
 * apart. Else the tier that the provider names.
 */
function ownTier(usage: ProviderObject): string | null {
  if (usage["speed"] === "fast") return "fast";
  if (iterationsOf(usage).some(({ type }) => type === FALLBACK)) return "fallback";
  return nameOf(usage["service_tier"]);
}

/**
 * The tier that the answer was given in; `us`, or the tier with `_us` behind it, where it was made in the US alone, which
 * costs more (`usage.inference_geo`).
 */
export function messagesTier(usage: ProviderObject): string | null {
  const tier = ownTier(usage);
  if (usage["inference_geo"] !== "us" || tier === "fallback") return tier;
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
