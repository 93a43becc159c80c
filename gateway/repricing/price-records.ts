import { priceText } from "#drizzle/price-text.ts";
import type { Directory } from "../directory.ts";
import { priceAnswer } from "../pricing/price-answer.ts";
import { priceBook } from "../pricing/price-book.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { NewPrice, UnpricedRecord } from "../stores/reprice.ts";

/** Unpriced records that are read and priced at once. */
export const RECORDS_AT_ONCE = 500;

type Known = Pick<Directory, "prices" | "providers">;

/**
 * Prices one record by the prices that were in force when it was made; nothing where it still has no price: no such price,
 * no usage, or its provider was deleted. `at` is noted with the record as the time of pricing.
 */
export function pricing(directory: Known, at: Date): (record: UnpricedRecord) => NewPrice[] {
  const book = priceBook(directory.prices, PROVIDERS);
  return (record) => {
    const provider = directory.providers.get(record.provider);
    if (!provider) return [];
    const { id, startedAt } = record;
    const answered = { ...record, provider, reportedCostUsd: null, at: new Date(startedAt) };
    const { costUsd, tokenCostUsd, price, atLeast = false } = priceAnswer(book, answered);
    if (costUsd === null) return [];
    const repriced = price && priceText({ ...price, repricedAt: at.toISOString() });
    return [{ id, startedAt, costUsd, tokenCostUsd, price: repriced, atLeast }];
  };
}
