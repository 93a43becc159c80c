import type { PriceRow } from "#drizzle/schema/records.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { DECIMAL_ZERO, type Decimal, formatDecimal, parseDecimal, plus } from "../pricing/decimal.ts";
import { addUsage } from "../providers/provider-json.ts";
import { FREE, type Priced, type Reading, UNPRICED } from "../reading.ts";

export type BatchTally = {
  /** `another`: another model answered than those asked for. */
  add(reading: Reading, priced: Priced, another?: boolean): void;
  done(): BatchTotals;
};

export type BatchTotals = {
  answers: number;
  reading: Reading;
  priced: Priced;
  modelMismatch: boolean;
  /** Some answers lack a price or usage, so the cost is a lower bound. */
  partial: boolean;
};

/** Sums usage and exact cost over the answers of a batch. A batch without answers costs nothing. */
export function batchTally(): BatchTally {
  let usage: Usage = NO_USAGE;
  let answers = 0;
  let mismatch = false;
  let pricedAnswers = 0;
  let meteredAnswers = 0;
  let completeAnswers = 0;
  let cost = DECIMAL_ZERO;
  let tokenCost = DECIMAL_ZERO;
  const rows = new Map<string, PriceRow>();
  const entries = new Set<string>();
  const models = new Set<string | null>();
  return {
    add(reading, priced, another = false) {
      mismatch ||= another;
      answers += 1;
      models.add(reading.responseModel);
      if (reading.usageSource !== "none") {
        meteredAnswers += 1;
        if (reading.usageSource === "provider") completeAnswers += 1;
        usage = addUsage(usage, reading.usage);
      }
      if (priced.costUsd === null) return;
      pricedAnswers += 1;
      cost = plus(cost, parseDecimal(priced.costUsd));
      tokenCost = plus(tokenCost, amount(priced.tokenCostUsd));
      if (!priced.price) return;
      entries.add(priced.price.entry);
      for (const row of priced.price.rows) addRow(rows, row);
    },
    done() {
      const partial = pricedAnswers > 0 && (pricedAnswers < answers || completeAnswers < meteredAnswers);
      const [model = null, another] = models;
      const price = { entry: [...entries].sort().join(", "), rows: [...rows.values()] };
      return {
        answers,
        partial,
        modelMismatch: mismatch,
        reading: {
          usage,
          usageSource: meteredAnswers === 0 ? "none" : completeAnswers < answers ? "partial" : "provider",
          responseModel: another === undefined ? model : null,
          serviceTier: null,
        },
        priced:
          answers === 0
            ? FREE
            : pricedAnswers === 0
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
