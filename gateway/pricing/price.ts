import type { PriceRow } from "#drizzle/schema/records.ts";
import {
  decimalOfNumber,
  decimalQuotient,
  type Exact,
  formatDecimal,
  parseDecimal,
  plus,
  product,
  times,
  ZERO,
} from "#shared/decimal.ts";
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

/** How cache units without a rate are charged. Audio and reasoning tokens without a rate stay in what they are part of. */
const CHARGED_AS: Readonly<Partial<Record<PriceUnit, PriceUnit>>> = {
  cache_read: "input",
  cache_write_5m: "input",
  cache_write_1h: "cache_write_5m",
};

/** Units with a fee beside the tokens of a call that has them. */
const FEES = ["web_search", "file_search", "source"] as const;

/** Units that an answer may be billed by instead of tokens. */
const INSTEAD_OF_TOKENS = ["image", "character", "search_unit"] as const;

type Counts = Readonly<Record<PriceUnit, number | null>>;

/**
 * The exact cost of a call's usage, with the rows that add up to it. Null without a price, or if the usage lacks a
 * priced count: an unknown count is never treated as 0. The cost is a lower bound for partial usage, and where something
 * is billed that has no price or no count.
 */
export function priceCall(
  entry: PriceEntry | null,
  usage: Usage,
  audioSeconds: number | null = null,
): Priced {
  if (!entry) return UNPRICED;
  const estimated = speechEstimate(entry, usage);
  const rates = estimated ?? entry.rates;
  const counts = billableCounts(rates, usage);
  const sound = soundRows(entry, audioSeconds);
  if (sound.rows.length === 0 && !isSufficient(rates, counts)) return UNPRICED;
  const input = inputTokens(usage) ?? 0;
  const tokens = billed(TOKEN_UNITS, { rates, counts, input });
  const pieces = billed(PIECE_UNITS, { rates, counts, input });
  const rows = [...tokens.rows, ...pieces.rows, ...sound.rows];
  const tokenCostUsd = formatDecimal(tokens.cost);
  return {
    costUsd:
      rows.length === tokens.rows.length
        ? tokenCostUsd
        : formatDecimal(plus(tokens.cost, plus(pieces.cost, sound.cost))),
    tokenCostUsd,
    price: { entry: entry.entry, rows, ...sound.at },
    ...((estimated || isLowerBound(entry, usage, counts)) && { atLeast: true }),
  };
}

const HOUR_SECONDS = parseDecimal("3600");

/** The cost of transcribed sound as one row, because its length is not recorded, and the price of an hour that it was computed from. */
function soundRows(
  entry: PriceEntry,
  seconds: number | null,
): { rows: PriceRow[]; cost: Exact; at?: { hourUsd: string } } {
  const { audioHour, audioSecondsMin = 0 } = entry;
  if (seconds === null || !audioHour) return { rows: [], cost: ZERO };
  const length = decimalOfNumber(Math.max(seconds, audioSecondsMin));
  const cost = decimalQuotient(product(audioHour, length), HOUR_SECONDS);
  const at = { hourUsd: formatDecimal(audioHour) };
  return { rows: [{ unit: "audio", count: 1, usdPerUnit: formatDecimal(cost) }], cost, at };
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

/** Disjoint counts: audio, images and reasoning leave input, cache reads and output only if they have a rate. */
function billableCounts(rates: Rates, usage: Usage): Counts {
  const input = splitter(rates, usage.uncachedInputTokens);
  const cached = splitter(rates, usage.cacheReadTokens);
  const output = splitter(rates, usage.outputTokens);
  const cachedAudio = cachedAudioIn(rates, usage);
  const cacheAudioRead = cached.take("cache_audio_read", cachedAudio);
  const audioInput = input.take("audio_input", Math.max(0, (usage.audioInputTokens ?? 0) - cachedAudio));
  const imageInput = input.take("image_input", usage.imageInputTokens);
  const audioOutput = output.take("audio_output", usage.audioOutputTokens);
  const imageOutput = output.take("image_output", usage.imageOutputTokens);
  const reasoning = output.take("reasoning", usage.reasoningTokens);
  return {
    input: input.rest(),
    cache_read: cached.rest(),
    cache_audio_read: cacheAudioRead,
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
    file_search: usage.fileSearches,
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

/** Cached audio costs less: unless reported, as much as possible counts as cached, so the cost is a lower bound. */
const cachedAudioIn = ({ cache_audio_read }: Rates, usage: Usage): number =>
  usage.cacheReadAudioTokens ??
  (cache_audio_read ? Math.min(usage.audioInputTokens ?? 0, usage.cacheReadTokens ?? 0) : 0);

/** Whether more is billed than the counts show. An administrator's price either has a fee for each search or has no such fee. */
function isLowerBound({ entry, rates, uncounted = [] }: PriceEntry, usage: Usage, counts: Counts): boolean {
  const some = (unit: PriceUnit) => (counts[unit] ?? 0) > 0;
  // Tokens of images cost more than those of text, and are counted as text if the usage does not report them.
  const unsplit =
    (rates.image_input !== undefined && usage.imageInputTokens === null && some("input")) ||
    (rates.image_output !== undefined && usage.imageOutputTokens === null && some("output")) ||
    (usage.cacheReadAudioTokens === null && some("cache_audio_read"));
  const feeUnknown = isListPrice({ entry }) && FEES.some((unit) => some(unit) && !rates[unit]);
  // A usage that splits what was cached says itself if images were (realtime-wire.ts).
  const isSplit = usage.cacheReadAudioTokens !== null;
  return unsplit || feeUnknown || uncounted.some((unit) => some(unit) && !(isSplit && unit === "cache_read"));
}

type Bill = { rates: Rates; counts: Counts; input: number };

/** The price rows of `units` and their sum. */
function billed(units: readonly PriceUnit[], { rates, counts, input }: Bill) {
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
