import { decimalQuotient, type Exact, isOver, parseDecimal, plus, times, ZERO } from "#shared/decimal.ts";
import { words } from "#shared/words.ts";
import { amountAt, type PriceEntry, type PriceUnit, type Rates } from "./rate.ts";

/** Upper bounds of a call's usage. */
export type CountBound = {
  inputTokens: number;
  outputTokens: number;
  images: number;
  characters: number;
  documents: number;
  /** Length of the sound to transcribe. */
  soundSeconds: number;
};

const HOUR_SECONDS = parseDecimal("3600");

/** Any input token may be charged as any input unit, and any output token as any output unit. */
const INPUT_UNITS = words(
  "input cache_read cache_audio_read cache_write_5m cache_write_1h audio_input image_input",
);
const OUTPUT_UNITS = ["output", "reasoning", "audio_output", "image_output"] as const;

/** The maximum cost within those counts, whatever units; null without a price. Searches are not included. */
export function priceBound(entry: PriceEntry | null, bound: CountBound): Exact | null {
  if (!entry) return null;
  const lines: [units: readonly PriceUnit[], count: number][] = [
    [INPUT_UNITS, bound.inputTokens],
    [OUTPUT_UNITS, bound.outputTokens],
    [["image"], bound.images],
    [["character"], bound.characters],
    [["search_unit"], bound.documents],
    [["call"], 1],
  ];
  const { rates, characterEstimate: character = rates.character } = entry;
  const known = character ? { ...rates, character } : rates;
  const seconds = Math.max(bound.soundSeconds, entry.audioSecondsMin ?? 0);
  const sound = decimalQuotient(times(entry.audioHour ?? ZERO, seconds), HOUR_SECONDS);
  return lines.reduce(
    (sum, [units, count]) => plus(sum, times(highestPrice(known, units, bound.inputTokens), count)),
    sound,
  );
}

/** The highest price among the units for any input size up to `inputTokens`. */
function highestPrice(rates: Rates, units: readonly PriceUnit[], inputTokens: number): Exact {
  let most = ZERO;
  for (const unit of units) {
    const rate = rates[unit];
    if (!rate) continue;
    const bounds = [0, inputTokens, ...rate.tiers.map((tier) => tier.aboveInputTokens + 1)];
    for (const input of bounds.filter((at) => at <= inputTokens)) {
      const { exact } = amountAt(rate, input);
      if (isOver(exact, most)) most = exact;
    }
  }
  return most;
}
