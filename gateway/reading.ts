import type { CostBasis, PriceSnapshot } from "#drizzle/schema/records.ts";
import type { Usage, UsageSource } from "#shared/usage.ts";

/** What an answer reports about itself. */
export type Reading = {
  usage: Usage;
  usageSource: UsageSource;
  /** The model that answered, according to the provider. */
  responseModel: string | null;
  serviceTier: string | null;
  /** The code of an error that the provider reported inside an answer with a good status. */
  failure?: string | undefined;
  /** What the call cost according to the provider: exact decimal in USD, null if it does not say. */
  reportedCostUsd: string | null;
  /** Requested images' size and quality, or search (request-counts.ts); or the search tool that the answer names. */
  variant?: string | null;
  /** Length of transcribed sound as the provider bills it. It is priced and never stored. */
  audioSeconds?: number;
  /** Id of what the provider keeps for later calls: the response, or its container; absent: nothing. */
  keptId?: string | null;
  /** Ids of what else it keeps: containers, and the items of a stored response; absent: nothing. */
  keptIds?: readonly string[];
  /** The answer only says that its provider began: it is read again later. */
  pending?: boolean;
  /** The provider's id of the answer, where the format has it in the body and not in a header. */
  answerId?: string | null;
};

/** The search tool of Responses that costs more with some models. */
export const PREVIEW_SEARCH = "web_search_preview";

/** A call's cost: exact decimals in USD, null if unknown. */
export type Priced = {
  costUsd: string | null;
  tokenCostUsd: string | null;
  price: PriceSnapshot | null;
  /** Absent: `list`. */
  basis?: CostBasis;
  /** By the price list, where `basis` is another. */
  listCostUsd?: string | null;
  /** Something is billed that no figure covers: the cost is a lower bound. */
  atLeast?: boolean;
};

/** A call that never reached a provider or was refused by it: its cost is known to be zero. */
export const FREE: Priced = Object.freeze({ costUsd: "0", tokenCostUsd: "0", price: null });

/** The cost is unknown. */
export const UNPRICED: Priced = Object.freeze({ costUsd: null, tokenCostUsd: null, price: null });

/**
 * `contentSeen`: a chunk with text, a tool call or reasoning was read; `terminalSeen`: the wire's last event was;
 * `allSeen`: nothing but the last event is missing, so a stream that then ends as its framing says is complete.
 */
export type StreamProgress = { contentSeen: boolean; terminalSeen: boolean; allSeen?: boolean };

/** Reads one stream of a wire, event by event. */
export type StreamReader = {
  /** Reads one event's data, as little of it as possible. True if the event carries nothing but usage. */
  event(data: Uint8Array): boolean;
  readonly progress: Readonly<StreamProgress>;
  reading(complete: boolean): Reading;
};
