import { decimalOfNumber, type Exact, formatDecimal, plus, shiftDown } from "#shared/decimal.ts";
import { countOf, objectOf, type ProviderObject } from "./provider-json.ts";

/** More than any call costs; a larger figure is an error or in another unit. */
const USD_MAX = 1_000_000;

/** Fractions of a US cent that xAI counts in: 10^10 make one dollar (docs.x.ai, cost tracking). */
const TICK_PLACES = 10;

/** A cost in USD, from 0 to `USD_MAX`; null for anything else. */
const usdOf = (value: unknown): Exact | null =>
  typeof value === "number" && value >= 0 && value <= USD_MAX ? decimalOfNumber(value) : null;

const READERS = {
  /** OpenRouter. With the caller's own key at the vendor (`is_byok`), `cost` is only OpenRouter's fee. */
  cost: (usage) => {
    const cost = usdOf(usage["cost"]);
    if (cost === null || usage["is_byok"] !== true) return cost;
    const upstream = usdOf(objectOf(usage["cost_details"])?.["upstream_inference_cost"]);
    return upstream && plus(cost, upstream);
  },
  /** Perplexity: tokens, searches and the fee per request. */
  "cost.total_cost": (usage) => usdOf(objectOf(usage["cost"])?.["total_cost"]),
  /** xAI: tokens and its own tools, after every discount. */
  cost_in_usd_ticks: (usage) => {
    const ticks = usage["cost_in_usd_ticks"];
    if (typeof ticks !== "number" || !Number.isSafeInteger(ticks) || ticks < 0) return null;
    return shiftDown(decimalOfNumber(ticks), TICK_PLACES);
  },
  /** DeepInfra. */
  estimated_cost: (usage) => usdOf(usage["estimated_cost"]),
} as const satisfies Record<string, (usage: ProviderObject) => Exact | null>;

/** The member of the usage object in which a provider reports what the call cost. */
export type ReportedCost = keyof typeof READERS;

/** The call's cost as the provider reports it, in USD as an exact decimal; null if not reported. */
export function reportedCostOf(
  usage: ProviderObject | null,
  { reportedCost }: { reportedCost?: ReportedCost },
): string | null {
  const usd = usage && reportedCost ? READERS[reportedCost](usage) : null;
  return usd && formatDecimal(usd);
}

/** Whether the provider ran tools of its own, billed besides tokens (xAI's `server_side_tool_usage_details`). */
export const ranHostedTools = (usage: ProviderObject | null): boolean =>
  Object.values(objectOf(usage?.["server_side_tool_usage_details"]) ?? {}).some(
    (count) => (countOf(count) ?? 0) > 0,
  );
