import { priceText, readPrice } from "#drizzle/price-text.ts";
import { decimalQuotient, formatDecimal, isZero, parseDecimal, times } from "#shared/decimal.ts";
import type { Directory } from "../directory.ts";
import { type AnswerToPrice, priceAnswer } from "../pricing/price-answer.ts";
import { type PriceBook, priceBook } from "../pricing/price-book.ts";
import { BATCH_TIER, STANDARD } from "../pricing/tier.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import type { Priced } from "../reading.ts";
import type { NewPrice, RecordCost, RecordToPrice } from "./priced-again.ts";

type Known = Pick<Directory, "prices" | "discounts" | "listed" | "providers" | "settings">;

/**
 * Prices one record by the prices that are known for the time when it was made: `same` if that changes nothing, `left` if the
 * record does not have what its cost was computed from. What the provider reported stays the cost. `at` is noted with the record
 * as the time of pricing.
 */
export function pricing(directory: Known, at: Date): (record: RecordToPrice) => NewPrice | "same" | "left" {
  const book = priceBook(directory.prices, PROVIDERS, directory);
  return (record) => {
    const provider = directory.providers.get(record.provider);
    const audioSeconds = soundOf(record);
    if (!provider || audioSeconds === null) return "left";
    const { id, startedAt, usageSource, costUsd: oldCostUsd } = record;
    const reportedCostUsd = record.costBasis === "vendor" ? oldCostUsd : null;
    const sound = audioSeconds !== undefined && { audioSeconds };
    const answered = { ...record, provider, reportedCostUsd, ...sound, at: new Date(startedAt) };
    const again =
      record.channel === "batch"
        ? batchAgain(book, answered, directory.settings.batch_basis)
        : priceAnswer(book, answered);
    if (again === null) return "left";
    const { price, atLeast = false, basis = null, listCostUsd = null, ...sums } = again;
    const priced = {
      discountedCostUsd: record.discountedCostUsd,
      ...sums,
      costBasis: basis,
      listCostUsd,
      unpriced: sums.costUsd === null,
      partial: usageSource === "partial" || atLeast,
      price: price && priceText({ ...price, repricedAt: at.toISOString() }),
    };
    if (isSame(record, priced)) return "same";
    return { ...priced, id, startedAt, oldCostUsd };
  };
}

/** Seconds of sound, by the cost and the price of an hour; undefined: it was not billed by length. Null: that price was not kept. */
function soundOf({ price, unpriced }: RecordToPrice): number | undefined | null {
  const { rows = [], hourUsd } = readPrice(price) ?? {};
  const sound = rows.find(({ unit }) => unit === "audio");
  if (unpriced || !sound) return undefined;
  const hour = parseDecimal(hourUsd ?? "0");
  if (isZero(hour)) return null;
  const seconds = decimalQuotient(times(parseDecimal(sound.usdPerUnit), HOUR_SECONDS), hour);
  return Number(Number(formatDecimal(seconds)).toFixed(6));
}
const HOUR_SECONDS = 3600;

type Batch = AnswerToPrice & Pick<RecordToPrice, "price" | "partial" | "unpriced" | "costBasis">;

/**
 * The counts of a batch are the sum of its answers': that has their cost if one model answered, each token costs the same whatever
 * the length of its call, and nothing is charged by the call. Null: the cost needs the single answers.
 */
function batchAgain(
  book: PriceBook,
  it: Batch,
  basis: Known["settings"]["batch_basis"],
): (Priced & { discountedCostUsd: string | null }) | null {
  const old = readPrice(it.price)?.entry ?? "";
  if (old.includes(", ")) return null;
  const place = old.includes("(US") ? "_us" : "";
  const inTier = (tier: string) => {
    const answer = { ...it, reportedCostUsd: null, serviceTier: `${tier}${place}` };
    const priced = priceAnswer(book, answer);
    const single = Object.fromEntries(
      Object.entries(it.usage).map(([name, count]) => [name, count && Math.min(1, count)]),
    );
    const short = priceAnswer(book, { ...answer, usage: { ...it.usage, ...single } });
    const unitsOf = ({ price }: Priced) => JSON.stringify(price?.rows.map((row) => ({ ...row, count: 1 })));
    const isBySum =
      unitsOf(priced) === unitsOf(short) && !priced.price?.rows.some(({ unit }) => unit === "call");
    return isBySum ? priced : null;
  };
  const [interactive, discounted] = [inTier(STANDARD), inTier(BATCH_TIER)];
  if (!interactive || !discounted) return null;
  const wanted = it.unpriced ? basis : it.costBasis === "batch" ? "list" : "interactive";
  const isDiscounted = wanted === "list" && discounted.costUsd !== null;
  return {
    ...(isDiscounted
      ? { ...discounted, basis: "batch", listCostUsd: interactive.costUsd }
      : { ...interactive, basis: "interactive" }),
    ...((it.partial || interactive.atLeast) && { atLeast: true }),
    discountedCostUsd: discounted.costUsd,
  };
}

function isSame(old: RecordCost, it: RecordCost): boolean {
  if (old.unpriced && it.unpriced) return true;
  const text = ({ price: stored, costBasis, partial, ...cost }: RecordCost) => {
    const { repricedAt: _, rows, ...price } = readPrice(stored) ?? { entry: "", rows: [] };
    const sums = [cost.costUsd, cost.tokenCostUsd, cost.listCostUsd, cost.discountedCostUsd];
    const exact = sums.map((usd) => usd && formatDecimal(parseDecimal(usd)));
    // The rows of a batch are in the order of its answers.
    const sorted = rows.toSorted((a, b) => (a.unit < b.unit ? -1 : 1));
    return JSON.stringify([
      exact,
      costBasis ?? "list",
      partial,
      stored && priceText({ ...price, rows: sorted }),
    ]);
  };
  return text(old) === text(it);
}
