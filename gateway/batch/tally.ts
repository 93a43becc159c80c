import type { PriceRow } from "#drizzle/schema/records.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { DECIMAL_ZERO, type Decimal, formatDecimal, parseDecimal, plus } from "../pricing/decimal.ts";
import { addUsage } from "../providers/provider-json.ts";
import { FREE, type Priced, type Reading, UNPRICED } from "../reading.ts";

export type BatchTally = {
  add(reading: Reading, priced: Priced): void;
  done(): BatchTotals;
};

export type BatchTotals = {
  answers: number;
  reading: Reading;
  priced: Priced;
  /** Some answers are without a price or usage, so the cost is a lower bound. */
  partial: boolean;
};

/** Adds the answers of a batch up: what they used, and what they cost, exactly. A batch without answers cost nothing. */
export function batchTally(): BatchTally {
  let usage: Usage = NO_USAGE;
  let answers = 0;
  let known = 0;
  let used = 0;
  let whole = 0;
  let cost = DECIMAL_ZERO;
  let tokenCost = DECIMAL_ZERO;
  const rows = new Map<string, PriceRow>();
  const entries = new Set<string>();
  const models = new Set<string | null>();
  return {
    add(reading, priced) {
      answers += 1;
      models.add(reading.responseModel);
      if (reading.usageSource !== "none") {
        used += 1;
        if (reading.usageSource === "provider") whole += 1;
        usage = addUsage(usage, reading.usage);
      }
      if (priced.costUsd === null) return;
      known += 1;
      cost = plus(cost, parseDecimal(priced.costUsd));
      tokenCost = plus(tokenCost, amount(priced.tokenCostUsd));
      if (!priced.price) return;
      entries.add(priced.price.entry);
      for (const row of priced.price.rows) addRow(rows, row);
    },
    done() {
      const partial = known > 0 && (known < answers || whole < used);
      const [model = null, another] = models;
      const price = { entry: [...entries].sort().join(", "), rows: [...rows.values()] };
      return {
        answers,
        partial,
        reading: {
          usage,
          usageSource: used === 0 ? "none" : whole < answers ? "partial" : "provider",
          responseModel: another === undefined ? model : null,
          serviceTier: null,
        },
        priced:
          answers === 0
            ? FREE
            : known === 0
              ? UNPRICED
              : { costUsd: formatDecimal(cost), tokenCostUsd: formatDecimal(tokenCost), price },
      };
    },
  };
}

const amount = (text: string | null): Decimal => (text === null ? DECIMAL_ZERO : parseDecimal(text));

function addRow(rows: Map<string, PriceRow>, { unit, count, usdPerUnit }: PriceRow): void {
  const key = `${unit} ${usdPerUnit}`;
  rows.set(key, { unit, usdPerUnit, count: (rows.get(key)?.count ?? 0) + count });
}
