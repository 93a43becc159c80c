import type { PriceSnapshot } from "#drizzle/schema/records.ts";
import type { Usage, UsageSource } from "#shared/usage.ts";

/** What an answer reported. */
export type Reading = {
  usage: Usage;
  usageSource: UsageSource;
  /** Model that the provider says answered. */
  responseModel: string | null;
  serviceTier: string | null;
};

/** What a call cost; amounts are exact decimals in USD, null when unknown. */
export type Priced = { costUsd: string | null; tokenCostUsd: string | null; price: PriceSnapshot | null };

/** A call that never reached a provider, or that the provider refused: it cost nothing, and that is known. */
export const FREE: Priced = Object.freeze({ costUsd: "0", tokenCostUsd: "0", price: null });

/** Nobody can say what the call cost. */
export const UNPRICED: Priced = Object.freeze({ costUsd: null, tokenCostUsd: null, price: null });

/**
 * The next offset at or after `from` in a chunk that may matter to the reader; the chunk's length without one. `from`
 * must not decrease between calls.
 */
export type Seek = (from: number) => number;

/**
 * How far a stream has come. `contentSeen`: a chunk with text, a tool call or reasoning; `terminalSeen`: the wire's own
 * last event.
 */
export type StreamProgress = { contentSeen: boolean; terminalSeen: boolean };

/** Reads one stream of a wire, event by event. */
export type StreamReader = {
  /**
   * Where in a chunk, as it came, something may tell the reader more. An event without such a place need not be given
   * to `event`, which would read none of it.
   */
  seek(chunk: Uint8Array): Seek;
  /** Takes one event's data and reads no more of it than it must. True when the event holds nothing but usage. */
  event(data: Uint8Array): boolean;
  readonly progress: Readonly<StreamProgress>;
  reading(complete: boolean): Reading;
};
