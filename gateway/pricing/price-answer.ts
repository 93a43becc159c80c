import type { Usage } from "#shared/usage.ts";
import type { Provider } from "../directory.ts";
import { type Priced, UNPRICED } from "../reading.ts";
import { priceCall } from "./price.ts";
import type { PriceBook } from "./price-book.ts";
import { withinUs } from "./price-list.ts";
import { isSameModel } from "./same-model.ts";

/** Service tiers that the built-in list has no prices for (OpenAI's and Anthropic's names). */
const PRICED_APART = new Set(["batch", "fallback", "fast", "flex", "priority", "scale"]);

/** Whether a tier is charged at prices that the built-in list does not have. */
export const isPricedApart = (tier: unknown): boolean => typeof tier === "string" && PRICED_APART.has(tier);

/** Inference restricted to the US (Anthropic's `inference_geo`). */
const WITHIN_US = "us";

export type AnswerToPrice = {
  provider: Pick<Provider, "kind" | "name">;
  /** Null if the client named none. */
  model: string | null;
  /** The provider's name for the model that answered. */
  responseModel: string | null;
  serviceTier: string | null;
  usage: Usage;
  at: Date;
};

type Named = Pick<AnswerToPrice, "provider" | "model" | "responseModel">;

/** Whether another model answered than the one asked for. An Azure deployment has any name, unless the list knows it. */
export function isAnotherModel(book: PriceBook, { provider, model, responseModel }: Named): boolean {
  if (model === null || responseModel === null || isSameModel(model, responseModel)) return false;
  return provider.kind !== "azure" || book.knows(provider.kind, model);
}

/**
 * Prices an answer by the requested model, or by the provider's name for it if that has no price; if another model
 * answered, by that one's price, or by the requested model's if it has none. An answer of a tier
 * with unknown prices stays unpriced rather than get a wrong price.
 */
export function priceAnswer(book: PriceBook, answered: AnswerToPrice): Priced {
  const { provider, model, responseModel, serviceTier, usage, at } = answered;
  if (isPricedApart(serviceTier)) return UNPRICED;
  const priceOf = (name: string) => book.priceOf(provider, name, at.getTime());
  const names = isAnotherModel(book, answered) ? [responseModel, model] : [model, responseModel];
  const price = names.map((name) => (name === null ? null : priceOf(name))).find((found) => found !== null);
  return priceCall(price && serviceTier === WITHIN_US ? withinUs(price) : (price ?? null), usage);
}
