const NO_COUNTS = Object.freeze({
  uncachedInputTokens: null,
  cacheReadTokens: null,
  cacheWrite5mTokens: null,
  cacheWrite1hTokens: null,
  /** Includes reasoning and audio output. */
  outputTokens: null,
  /** Part of `outputTokens`. */
  reasoningTokens: null,
  /** Part of the input. */
  audioInputTokens: null,
  /** Part of `outputTokens`. */
  audioOutputTokens: null,
  /** Images returned, not images asked for. */
  images: null,
  /** Unicode code points of the text to be spoken. */
  characters: null,
  /** Documents sent to be ranked. */
  documents: null,
  /** Search units billed by a reranker. */
  searchUnits: null,
  /** Server-side web searches billed by the provider. */
  webSearches: null,
  /** Part of the uncached input. */
  imageInputTokens: null,
  /** Part of `outputTokens`. */
  imageOutputTokens: null,
  /** Sources that a search read, where the provider bills each of them. */
  searchSources: null,
  /** Part of `cacheReadTokens`, and of `audioInputTokens`. */
  cacheReadAudioTokens: null,
  /** Searches of stored files that the provider bills. */
  fileSearches: null,
});

/**
 * The usage of one call, in normal form. Token counts are disjoint, so they add up:
 * input = uncached + cacheRead + cacheWrite5m + cacheWrite1h; total = input + output. `null` means unreported, never 0.
 */
export type Usage = { -readonly [Count in keyof typeof NO_COUNTS]: number | null };

export const NO_USAGE: Usage = NO_COUNTS;

/** Where the counts come from: the provider's final figure, a part of it (a lower bound), or nowhere. */
export type UsageSource = "provider" | "partial" | "none";

/** All input tokens, including cached ones; null when the provider reported no input figure. */
export function inputTokens(usage: Usage): number | null {
  if (usage.uncachedInputTokens === null) return null;
  return (
    usage.uncachedInputTokens +
    (usage.cacheReadTokens ?? 0) +
    (usage.cacheWrite5mTokens ?? 0) +
    (usage.cacheWrite1hTokens ?? 0)
  );
}
