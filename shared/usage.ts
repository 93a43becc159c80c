/**
 * What one call used, in normal form (decision: Stored token counts are disjoint). Token counts are disjoint, so they add up:
 * input = uncached + cacheRead + cacheWrite5m + cacheWrite1h; total = input + output. `null` is "not told", never 0.
 */
export type Usage = {
  uncachedInputTokens: number | null;
  cacheReadTokens: number | null;
  cacheWrite5mTokens: number | null;
  cacheWrite1hTokens: number | null;
  /** Includes reasoning and audio output. */
  outputTokens: number | null;
  /** Part of `outputTokens`. */
  reasoningTokens: number | null;
  /** Part of the input. */
  audioInputTokens: number | null;
  /** Part of `outputTokens`. */
  audioOutputTokens: number | null;
  /** Images returned, not images asked for. */
  images: number | null;
  /** Unicode code points of the text to be spoken. */
  characters: number | null;
  /** Documents sent to be ranked. */
  documents: number | null;
  /** Search units billed by a reranker. */
  searchUnits: number | null;
  /** Server-side web searches billed by the provider. */
  webSearches: number | null;
};

/** Where the counts come from: the provider's final figure, a part of it (a lower bound), or nowhere. */
const USAGE_SOURCES = ["provider", "partial", "none"] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

export const NO_USAGE: Usage = Object.freeze({
  uncachedInputTokens: null,
  cacheReadTokens: null,
  cacheWrite5mTokens: null,
  cacheWrite1hTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  audioInputTokens: null,
  audioOutputTokens: null,
  images: null,
  characters: null,
  documents: null,
  searchUnits: null,
  webSearches: null,
});

/** All input tokens, cached ones included; null when the provider told no input figure. */
export function inputTokens(usage: Usage): number | null {
  if (usage.uncachedInputTokens === null) return null;
  return (
    usage.uncachedInputTokens +
    (usage.cacheReadTokens ?? 0) +
    (usage.cacheWrite5mTokens ?? 0) +
    (usage.cacheWrite1hTokens ?? 0)
  );
}
