import type { Usage } from "#shared/usage.ts";
import type { Provider } from "../directory.ts";
import { type Priced, UNPRICED } from "../reading.ts";
import { priceCall } from "./price.ts";
import type { PriceBook } from "./price-book.ts";
import { withinUs } from "./price-list.ts";

/** Service tiers that providers charge by another list than the one that we have (OpenAI's and Anthropic's names). */
const PRICED_APART = new Set(["batch", "fallback", "fast", "flex", "priority", "scale"]);

/** Whether a tier is charged by another list than the one that we have. */
export const isPricedApart = (tier: unknown): boolean => typeof tier === "string" && PRICED_APART.has(tier);

/** An answer that was made in the US alone (Anthropic's `inference_geo`). */
const WITHIN_US = "us";

/** An answer to be priced: who gave it, by which model and tier, when, and what it used. */
export type AnswerToPrice = {
  provider: Pick<Provider, "kind" | "name">;
  /** Null where the client named none. */
  model: string | null;
  /** The provider's own name for what answered. */
  responseModel: string | null;
  serviceTier: string | null;
  usage: Usage;
  at: Date;
};

/**
 * What an answer cost, by the model that was asked for; the provider's own name for it helps only where that one has no
 * price. A tier whose price nobody knows leaves the answer unpriced, never at a wrong price.
 */
export function priceAnswer(book: PriceBook, answered: AnswerToPrice): Priced {
  const { provider, model, responseModel, serviceTier, usage, at } = answered;
  if (isPricedApart(serviceTier)) return UNPRICED;
  const priceOf = (name: string) => book.priceOf(provider, name, at.getTime());
  const price =
    (model === null ? null : priceOf(model)) ?? (responseModel === null ? null : priceOf(responseModel));
  return priceCall(price && serviceTier === WITHIN_US ? withinUs(price) : price, usage);
}
