import { difference, formatDecimal, isOver, parseDecimal, ZERO } from "#shared/decimal.ts";
import { inputTokens, type Usage } from "#shared/usage.ts";
import { words } from "#shared/words.ts";
import type { Provider } from "../directory.ts";
import { type Priced, UNPRICED } from "../reading.ts";
import { coveredPart } from "./own-price.ts";
import { priceCall } from "./price.ts";
import type { ModelNames, PriceBook } from "./price-book.ts";
import type { PriceEntry } from "./rate.ts";
import { tierOf } from "./tier.ts";
import { ofVariant } from "./variant.ts";

export type AnswerToPrice = {
  provider: Pick<Provider, "kind" | "name" | "location">;
  /** Null if the client named none. */
  model: string | null;
  responseModel: string | null;
  serviceTier: string | null;
  /** Its cost as the provider reported it (`Reading`). */
  reportedCostUsd: string | null;
  /** Size and quality of the requested images, or the search or its tool (`Reading`); absent is unknown. */
  variant?: string | null;
  /** Length of transcribed sound (`Reading`). */
  audioSeconds?: number;
  usage: Usage;
  at: Date;
};

type Named = Pick<AnswerToPrice, "provider" | "model" | "responseModel">;

/** Whether a model other than the requested one answered. Azure deployments have any name, unless the list knows it. */
export function isAnotherModel(book: PriceBook, { provider, model, responseModel }: Named): boolean {
  if (model === null || responseModel === null || model === responseModel) return false;
  if (isSameModel(model, responseModel)) return false;
  return provider.kind !== "azure" || book.knows(provider.kind, model);
}

/** Prices an answer. A cost that the provider reports wins; the list-price cost is stored as well. */
export function priceAnswer(book: PriceBook, answered: AnswerToPrice): Priced {
  const listed = priceByList(book, answered);
  const { reportedCostUsd, usage } = answered;
  return reportedCostUsd === null ? listed : asReported(listed, reportedCostUsd, usage);
}

/** By an administrator's price, with the list's cost beside it, or by the list. */
function priceByList(book: PriceBook, answered: AnswerToPrice): Priced {
  const entry = priceEntryOf(book, answered);
  if (!entry) return UNPRICED;
  const { usage } = answered;
  if (entry.list === undefined) return priceUsage(entry, answered, usage);
  const covered = coveredPart(entry, usage);
  const priced = priceUsage(entry, answered, covered.usage);
  if (priced.costUsd === null) return priced;
  const { costUsd: listCostUsd } = entry.list ? priceUsage(entry.list, answered, usage) : UNPRICED;
  return { ...priced, ...(covered.isWhole ? {} : { atLeast: true }), basis: "contract", listCostUsd };
}

function priceUsage(entry: PriceEntry, { variant = null, audioSeconds }: AnswerToPrice, usage: Usage) {
  const { price, isFloor } = ofVariant(entry, variant);
  const priced = priceCall(price, usage, audioSeconds);
  return isFloor && priced.costUsd !== null ? { ...priced, atLeast: true } : priced;
}

/**
 * The exact id that answered comes before the one that was asked for, unless it only lacks where the model is hosted. The
 * asked id's price stands for an answer by the same model, or under a name that no vendor gives; for a vendor's other
 * model, or its version of a date that the list lacks, only an administrator's. An answer of a tier with unknown prices
 * stays unpriced rather than get a wrong price.
 */
function priceEntryOf(book: PriceBook, answered: AnswerToPrice): PriceEntry | null {
  const { provider, model, responseModel, serviceTier, at } = answered;
  const { name: tier, withinUs } = tierOf(serviceTier);
  const priceOf = (names: ModelNames) => book.priceOf({ ...provider, tier, withinUs }, names, at.getTime());
  const asked = model === null ? [] : [model];
  if (responseModel === null || responseModel === model) return priceOf({ own: asked, list: asked });
  const isGuess = book.isOtherDate(provider.kind, responseModel);
  if (!isAnotherModel(book, answered)) {
    const names = [responseModel, ...asked];
    const isHosted = model !== null && isSameButForHost(model, responseModel);
    return priceOf({ own: names, list: isGuess ? [responseModel] : isHosted ? names.toReversed() : names });
  }
  const found = priceOf({ own: [responseModel], list: [responseModel] });
  if (found) return found;
  return priceOf({ own: asked, list: isGuess || book.isVendors(bareName(responseModel)) ? [] : asked });
}

/** Counts of pieces that a price list may charge besides tokens. */
const PIECES = words("images characters searchUnits webSearches fileSearches searchSources");

/** The provider's cost. What the list charges for pieces is not for tokens; without pieces all of it is for tokens. */
function asReported(listed: Priced, costUsd: string, usage: Usage): Priced {
  const cost = parseDecimal(costUsd);
  const { costUsd: charged, price } = listed;
  const listCostUsd = listed.basis === "contract" ? (listed.listCostUsd ?? null) : charged;
  const pieces =
    charged === null ? null : difference(parseDecimal(charged), parseDecimal(listed.tokenCostUsd ?? "0"));
  const onlyTokens = inputTokens(usage) !== null && PIECES.every((count) => !usage[count]);
  const forPieces = pieces ?? (onlyTokens ? ZERO : null);
  const tokenCostUsd =
    forPieces === null ? null : isOver(forPieces, cost) ? "0" : formatDecimal(difference(cost, forPieces));
  return { costUsd, tokenCostUsd, price, basis: "vendor", listCostUsd };
}

/** Prefixes of regions and vendors in Amazon Bedrock's names. */
const HOSTED =
  /^(?:(?:us|eu|apac|au|ca|in|jp|global|us-gov)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\./;
/** Suffixes that providers add to the name of the same model: their own version, a service variant, `latest`. */
const ADDED = /(?:-v\d+)?(?::(?:\d+|latest|free|nitro|floor|online|extended))?$/;
/** A date or a build number, such as `2024-08-06`, `20250514`, `2411`, `preview-05-20` and `002`. */
const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|(?:preview-)?\d{2}-\d{2}(?:\d{2})?|\d{3,4})$/;

/** A model's name without path, hosting prefix and service variant. */
const bareName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^.*\//s, "")
    .replace(HOSTED, "")
    .replaceAll("@", "-")
    .replace(ADDED, "")
    .replace(/-latest$/, "");

/** Whether the answer names the asked model itself, or that of a host (`us.anthropic.…`), where the asked id says more. */
const isSameButForHost = (asked: string, answered: string): boolean =>
  bareName(asked) === bareName(answered) || HOSTED.test(asked);

const undated = (name: string): string => name.replace(DATED, "");

/**
 * Whether a provider's name for the model that answered is the model that was asked for: the same name, or the name with
 * a date where the other has none. Two dates are two models, because their prices may differ.
 */
export function isSameModel(asked: string, answered: string): boolean {
  const [one, other] = [bareName(asked), bareName(answered)];
  return one === other || undated(other) === one || undated(one) === other;
}
