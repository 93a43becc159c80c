import {
  decimalQuotient,
  difference,
  formatDecimal,
  parseDecimal,
  plus,
  product,
  ZERO,
} from "#shared/decimal.ts";
import type { BillLine } from "./read-bill.ts";

/** A line of a vendor's cost report. `join` says which counts of its usage report it is the cost of. */
export type Cost = { line: BillLine; join: string };

/** A count of a vendor's usage report; `line` is what becomes of it where nothing is billed for it. */
export type Use = { join: string; key: string; quantity: string; line: BillLine | null };

/** Name of calls that the vendor attributes to none of its keys, such as those from its console. */
export const NO_KEY = "(none)";

/**
 * Costs with their counts and keys. A cost that names no key is shared by the keys of its counts, because their price is
 * the same; the last one gets what rounding leaves.
 */
export function withUse(costs: readonly Cost[], uses: readonly Use[]): BillLine[] {
  const counted = Map.groupBy(uses, ({ join }) => join);
  const billed = new Set(costs.map(({ join }) => join));
  const lines = costs.flatMap(({ line, join }) => {
    const own = counted.get(join)?.filter(({ key }) => line.key === null || key === line.key) ?? [];
    const total = own.reduce((sum, { quantity }) => plus(sum, parseDecimal(quantity)), ZERO);
    if (own.length === 0 || total.num === 0n) return [line];
    if (line.key !== null) return [{ ...line, quantity: line.quantity ?? formatDecimal(total) }];
    let left = parseDecimal(line.amount ?? "0");
    return own.map(({ key, quantity }, index) => {
      const whole = product(parseDecimal(line.amount ?? "0"), parseDecimal(quantity));
      const share = index === own.length - 1 ? left : decimalQuotient(whole, total);
      left = difference(left, share);
      return { ...line, key, quantity, amount: formatDecimal(share) };
    });
  });
  return [...lines, ...uses.flatMap(({ join, line }) => (line && !billed.has(join) ? line : []))];
}

type FetchQuery = readonly (readonly [name: string, value: string])[];
/** Buckets of a report, page by page. */
export type ReadReport = (path: string, query: FetchQuery) => AsyncIterable<unknown>;

/** Whole days in UTC: `from` ≤ day < `to`, in milliseconds since 1970. */
export type DaysInUtc = { fromMs: number; toMs: number };
