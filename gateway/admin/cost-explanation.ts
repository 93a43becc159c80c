import { readPrice } from "#drizzle/price-text.ts";
import type { PriceSnapshot } from "#drizzle/schema/records.ts";
import type { RequestPage } from "#shared/admin/records.ts";
import { difference, formatDecimal, parseDecimal, times } from "#shared/decimal.ts";
import type { RecordRow, VersionRow } from "../stores/requests.ts";

/** Explains a record's cost: the rule, the price's origin, and the lines that add up to it. */
export function explainCost(row: RecordRow, versions: readonly VersionRow[]): RequestPage["cost"] {
  const price = readPrice(row.price);
  return {
    versions: versions.map(({ costUsd, costBasis, listCostUsd, price: stored, until, actor, reason }) => ({
      cost_usd: costUsd,
      cost_basis: costBasis,
      list_cost_usd: listCostUsd,
      entry: readPrice(stored)?.entry ?? null,
      until,
      actor,
      reason,
    })),
    reason: reasonOf(row, price, versions),
    entry: price?.entry ?? null,
    repriced_at: price?.repricedAt ?? null,
    savings_usd: savingsOf(row),
    usage_source: row.usageSource,
    rows: (price?.rows ?? []).map(({ unit, count, usdPerUnit }) => ({
      unit,
      count,
      usd_per_unit: usdPerUnit,
      usd: formatDecimal(times(parseDecimal(usdPerUnit), count)),
    })),
  };
}

/** What an administrator's price saved; below 0 where it is dearer than the list's. */
function savingsOf({ costBasis, costUsd, listCostUsd }: RecordRow): string | null {
  if (costBasis !== "contract" || costUsd === null || listCostUsd === null) return null;
  return formatDecimal(difference(parseDecimal(listCostUsd), parseDecimal(costUsd)));
}

/** Whether a cost is an upper bound: a whole batch at the prices of interactive calls. */
export const isCeiling = ({
  costBasis,
  costUsd,
  partial,
}: Pick<RecordRow, "costBasis" | "costUsd" | "partial">) =>
  costBasis === "interactive" && costUsd !== null && !partial;

function reasonOf(row: RecordRow, price: PriceSnapshot | null, versions: readonly VersionRow[]): string {
  if (row.costUsd === null) return unpricedReason(row);
  if (row.costBasis === "vendor") return vendorReason(row);
  if (price === null) {
    return "Nothing was charged: the call reached no model, the provider refused it, or the surface is free.";
  }
  const counted = row.partial
    ? "the known counts, but more was billed than they cover, so it is a lower bound"
    : "the provider's own counts";
  const lane =
    row.channel === "subscription" ? " It is a list price, because a subscription paid for the call." : "";
  const { repricedAt } = price;
  const entry = price.entry.replace(/^list:(.*)/, "$1 in the price list");
  const later =
    repricedAt === undefined
      ? ""
      : ` The call was priced at ${repricedAt}; ${versions.some(({ costUsd }) => costUsd !== null) ? "it had another price before" : "until then its cost was unknown"}.`;
  const other = row.modelMismatch
    ? ` ${row.responseModel} answered, although ${row.model} was asked for.`
    : "";
  return `The cost is the sum of the rows: ${counted}, times the prices of ${entry}.${other}${contractNote(row)}${batchNote(row)}${lane}${later}`;
}

function vendorReason({ listCostUsd, partial }: RecordRow): string {
  const beside =
    listCostUsd === null
      ? "The price list has no price for it."
      : `By the price list it would be ${listCostUsd} USD.`;
  const bound = partial ? " The answer ended early, so it is a lower bound." : "";
  return `The provider reported this cost. ${beside}${bound}`;
}

function contractNote(row: RecordRow): string {
  if (row.costBasis !== "contract") return "";
  const saved = savingsOf(row);
  if (saved === null) return " The price list has no price for it.";
  const change = saved.startsWith("-") ? `adds ${saved.slice(1)}` : `saves ${saved}`;
  return ` By the price list it would be ${row.listCostUsd} USD: your price ${change} USD.`;
}

function batchNote(row: RecordRow): string {
  const { costBasis, discountedCostUsd, listCostUsd } = row;
  if (costBasis === "batch")
    return ` They are its prices for batches; interactive calls would cost ${listCostUsd} USD.`;
  if (costBasis !== "interactive") return "";
  const bound = isCeiling(row) ? " They are those of interactive calls, so the batch cost at most this." : "";
  return discountedCostUsd === null
    ? bound
    : `${bound} At the prices for batches it is ${discountedCostUsd} USD.`;
}

function unpricedReason(row: RecordRow): string {
  const { usageSource, state, provider, model, responseModel, serviceTier } = row;
  if (state === "interrupted") return "The gateway stopped before the answer ended, so the cost is unknown.";
  if (usageSource === "none") return "The provider reported no usage, so the cost is unknown.";
  const tier = serviceTier === null ? "" : ` in the service tier ${serviceTier}`;
  const answered = responseModel === null || responseModel === model ? "" : ` (${responseModel} answered)`;
  return `No price is known for ${model} of ${provider}${answered}${tier}, or the price applies to a count that the provider did not report.`;
}
