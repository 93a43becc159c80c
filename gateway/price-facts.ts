import type { WireName } from "./surface-facts.ts";

/** A published price of a model, in exact decimals: USD per million tokens, and per piece. */
export type PublishedPrice = {
  input?: string;
  output?: string;
  image?: string;
  /** By size and quality, such as `1024x1024 hd`. */
  imageBy?: Readonly<Record<string, string>>;
  character?: string;
  searchUnit?: string;
};

/**
 * A tier's price of a model: times the standard price (an exact decimal), for cached tokens another multiple of it, or
 * in USD per million tokens.
 */
export type TierPrice =
  | string
  | { times: string; cacheReads: string }
  | { input: string; cachedInput?: string; output: string };

/** By the tier's name, then by the model's, without its date; `*` is any other model. */
export type TierPrices = Readonly<Record<string, Readonly<Record<string, TierPrice>>>>;

/** What prices of a provider kind are made of (providers/catalog.ts). */
export type PriceFacts = {
  wire: WireName;
  /** Its ids in the built-in price list. */
  priceIds: readonly string[];
  /** Prefix of model names here that the price list does not use. */
  modelPrefix?: string;
  /** Names of models that only this vendor makes, those of tomorrow included. */
  modelNames?: RegExp;
  /** The models of its price list that it serves, where the list has others too. */
  serves?: RegExp;
  /** Prices of models missing from public lists. */
  prices?: Readonly<Record<string, PublishedPrice>>;
  /** USD per character of speech, by model, where only tokens are billed and the answer does not report them. */
  characterEstimates?: Readonly<Record<string, string>>;
  /** USD per source that a search read, where `num_sources_used` is billed. */
  sourcePrice?: string;
  /** USD per 1,000 calls beside their tokens: by the model's name, then by the search that the request asks for. */
  requestFees?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** USD per call of the vendor's own search tool in the chat format. */
  searchPrice?: string;
  /**
   * USD per search by the older tool of Responses (`web_search_preview`), for models where it costs more, and models of
   * it is unknown whether usage has the tokens that searches by the newer one are billed.
   */
  previewSearch?: { models: RegExp; price: string; contentUnsure: RegExp };
  tiers?: TierPrices;
  /** Models that cost 1.1 times the list price in one place, and those of which that is not published. */
  places?: { dearer?: RegExp; unsure?: RegExp };
  /** Models that no longer cost more beyond a number of tokens, though the list says so; and since when. */
  flatSince?: { models: RegExp; day: string };
};
