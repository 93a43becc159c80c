import type { PriceRow } from "#drizzle/schema/records.ts";
import { type Exact, formatDecimal, plus, times, ZERO } from "#shared/decimal.ts";
import { inputTokens, type Usage } from "#shared/usage.ts";
import { type Priced, UNPRICED } from "../reading.ts";
import {
  amountAt,
  isListPrice,
  PIECE_UNITS,
  type PriceEntry,
  type PriceUnit,
  type Rate,
  type Rates,
  TOKEN_UNITS,
} from "./rate.ts";

/** How cache units without a rate are charged. Audio and reasoning tokens without a rate stay in input and output. */
const CHARGED_AS: Readonly<Partial<Record<PriceUnit, PriceUnit>>> = {
  cache_read: "input",
  cache_write_5m: "input",
  cache_write_1h: "cache_write_5m",
};

/** Units that an answer may be billed by instead of tokens. */
const INSTEAD_OF_TOKENS = ["image", "character", "search_unit"] as const;

type Counts = Readonly<Record<PriceUnit, number | null>>;

/**
 * The exact cost of a call's usage, with the rows that add up to it. Null without a price, or if the usage lacks a
 * priced count: an unknown count is never treated as 0. For partial usage the cost is a lower bound.
 */
export function priceCall(entry: PriceEntry | null, usage: Usage): Priced {
  if (!entry) return UNPRICED;
  const estimated = speechEstimate(entry, usage);
  const rates = estimated ?? entry.rates;
  const counts = billableCounts(rates, usage);
  if (!isSufficient(rates, counts) || imagesUnknown(rates, usage) || searchesUnknown(entry, counts)) {
    return UNPRICED;
  }
  const input = inputTokens(usage) ?? 0;
  const tokens = billed(TOKEN_UNITS, { rates, counts, input });
  const pieces = billed(PIECE_UNITS, { rates, counts, input });
  const tokenCostUsd = formatDecimal(tokens.cost);
  return {
    costUsd: pieces.rows.length === 0 ? tokenCostUsd : formatDecimal(plus(tokens.cost, pieces.cost)),
    tokenCostUsd,
    price: { entry: entry.entry, rows: [...tokens.rows, ...pieces.rows] },
    ...(estimated && { atLeast: true }),
  };
}

/** A model of speech that is billed by tokens, whose answer is sound alone, is charged by an estimate per character. */
function speechEstimate({ characterEstimate }: PriceEntry, usage: Usage): Rates | null {
  const reported = usage.uncachedInputTokens !== null || usage.outputTokens !== null;
  return characterEstimate && usage.characters !== null && !reported
    ? { character: characterEstimate }
    : null;
}

/** The rest of a count after subtracting parts with their own rates, each at most the rest. */
function splitter(rates: Rates, whole: number | null) {
  let left = whole ?? 0;
  return {
    take(unit: PriceUnit, count: number | null): number {
      const part = rates[unit] ? Math.min(count ?? 0, left) : 0;
      left -= part;
      return part;
    },
    rest: () => (whole === null ? null : left),
  };
}

/** Disjoint counts: audio, images and reasoning are taken out of input and output only if they have their own rate. */
function billableCounts(rates: Rates, usage: Usage): Counts {
  const input = splitter(rates, usage.uncachedInputTokens);
  const output = splitter(rates, usage.outputTokens);
  // Cached audio is not reported separately, so audio is taken from the uncached input first, the more expensive one.
  const audioInput = input.take("audio_input", usage.audioInputTokens);
  const imageInput = input.take("image_input", usage.imageInputTokens);
  const audioOutput = output.take("audio_output", usage.audioOutputTokens);
  const imageOutput = output.take("image_output", usage.imageOutputTokens);
  const reasoning = output.take("reasoning", usage.reasoningTokens);
  return {
    input: input.rest(),
    cache_read: usage.cacheReadTokens,
    cache_write_5m: usage.cacheWrite5mTokens,
    cache_write_1h: usage.cacheWrite1hTokens,
    audio_input: audioInput,
    image_input: imageInput,
    output: output.rest(),
    reasoning,
    audio_output: audioOutput,
    image_output: imageOutput,
    image: usage.images,
    character: usage.characters,
    search_unit: usage.searchUnits,
    web_search: usage.webSearches,
    source: usage.searchSources,
    call: 1,
  };
}

function isSufficient(rates: Rates, counts: Counts): boolean {
  const isCounted = (unit: PriceUnit) => rates[unit] !== undefined && counts[unit] !== null;
  const missing = (unit: "input" | "output") => {
    const rate = rates[unit];
    return counts[unit] === null && rate !== undefined && !rate.isFree;
  };
  // A provider that reports no tokens and bills by other units does not bill tokens.
  const noTokensReported = counts.input === null && counts.output === null;
  if (noTokensReported && INSTEAD_OF_TOKENS.some(isCounted)) return true;
  if (missing("input") || missing("output")) return false;
  return isCounted("input") || isCounted("output") || isCounted("call") || INSTEAD_OF_TOKENS.some(isCounted);
}

/** Tokens of images cost more than those of text, so that a sum of both has no price. */
const imagesUnknown = (rates: Rates, usage: Usage): boolean =>
  (rates.image_input !== undefined &&
    usage.imageInputTokens === null &&
    (usage.uncachedInputTokens ?? 0) > 0) ||
  (rates.image_output !== undefined && usage.imageOutputTokens === null && (usage.outputTokens ?? 0) > 0);

/** Searches without a list price are not free. An administrator's price is taken as complete. */
const searchesUnknown = (entry: PriceEntry, counts: Counts): boolean =>
  isListPrice(entry) &&
  (["web_search", "source"] as const).some((unit) => (counts[unit] ?? 0) > 0 && !entry.rates[unit]);

type Bill = { rates: Rates; counts: Counts; input: number };

/** The price rows of `units` and their sum. */
function billed(
  units: readonly PriceUnit[],
  { rates, counts, input }: Bill,
): { rows: PriceRow[]; cost: Exact } {
  const rows: PriceRow[] = [];
  let cost = ZERO;
  for (const unit of units) {
    const count = counts[unit];
    const rate = count ? rateOf(rates, unit) : null;
    if (!count || !rate) continue;
    const { usdPerUnit, exact } = amountAt(rate, input);
    rows.push({ unit, count, usdPerUnit });
    cost = plus(cost, times(exact, count));
  }
  return { rows, cost };
}

function rateOf(rates: Rates, unit: PriceUnit): Rate | null {
  const other = CHARGED_AS[unit];
  return rates[unit] ?? (other ? rateOf(rates, other) : null);
}
