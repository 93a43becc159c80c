import type { VendorBillRead } from "#shared/admin/vendor-bills.ts";
import { formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import type { BillLine } from "./read-bill.ts";

export function summaryOf(
  account: string,
  days: readonly string[],
  lines: readonly BillLine[],
): VendorBillRead {
  const sums = Map.groupBy(lines, ({ currency }) => currency);
  const billed = [...sums].map(([currency, those]) => {
    const sum = those.reduce((all, { amount }) => plus(all, parseDecimal(amount ?? "0")), ZERO);
    return [currency, formatDecimal(sum)] as const;
  });
  return {
    account,
    from: days[0] ?? null,
    to: days.at(-1) ?? null,
    days: days.length,
    lines: lines.length,
    billed: Object.fromEntries(billed),
  };
}
