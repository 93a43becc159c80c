import { readPrice } from "#drizzle/price-text.ts";
import type { PriceSnapshot } from "#drizzle/schema/records.ts";
import type { RequestPage } from "#shared/admin/records.ts";
import { formatDecimal, parseDecimal, times } from "../pricing/decimal.ts";
import type { RecordRow } from "../stores/requests.ts";

/** Explains a record's cost: the rule, the price's origin, and the lines that add up to it. */
export function explainCost(row: RecordRow): RequestPage["cost"] {
  const price = readPrice(row.price);
  return {
    reason: reasonOf(row, price),
    entry: price?.entry ?? null,
    repriced_at: price?.repricedAt ?? null,
    usage_source: row.usageSource,
    rows: (price?.rows ?? []).map(({ unit, count, usdPerUnit }) => ({
      unit,
      count,
      usd_per_unit: usdPerUnit,
      usd: formatDecimal(times(parseDecimal(usdPerUnit), count)),
    })),
  };
}

function reasonOf(row: RecordRow, price: PriceSnapshot | null): string {
  if (row.costUsd === null) return unpricedReason(row);
  if (price === null) {
    return "Nothing was charged: the call reached no model, the provider refused it, or the surface is free.";
  }
  const counted =
    row.usageSource === "partial"
      ? "the known counts, which are incomplete, so it is a lower bound"
      : "the provider's own counts";
  const lane =
    row.channel === "subscription" ? " It is a list price, because a subscription paid for the call." : "";
  const { entry, repricedAt } = price;
  const later =
    repricedAt === undefined ? "" : ` The call was priced at ${repricedAt}; until then its cost was unknown.`;
  const other = row.modelMismatch
    ? ` ${row.responseModel} answered, although ${row.model} was asked for.`
    : "";
  return `The cost is the sum of the rows: ${counted}, times the prices of ${entry}.${other}${lane}${later}`;
}

function unpricedReason({ usageSource, state, provider, model, serviceTier }: RecordRow): string {
  if (state === "interrupted") return "The gateway stopped before the answer ended, so the cost is unknown.";
  if (usageSource === "none") return "The provider reported no usage, so the cost is unknown.";
  const tier = serviceTier === null ? "" : ` in the service tier ${serviceTier}`;
  return `No price is known for ${model} of ${provider}${tier}, or the price applies to a count that the provider did not report.`;
}
