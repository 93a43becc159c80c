import type { PriceRow } from "#drizzle/schema/records.ts";
import { type Exact, formatDecimal, parseDecimal, plus, ZERO } from "#shared/decimal.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { addUsage } from "../providers/provider-json.ts";
import { FREE, type Priced, type Reading, UNPRICED } from "../reading.ts";

type BatchAnswer = {
  reading: Reading;
  priced: Priced;
  /** At the prices of the provider's batch tier. */
  discounted: Priced;
  /** A model other than the requested ones answered. */
  another?: boolean;
};

export type BatchTotals = {
  answers: number;
  reading: Reading;
  priced: Priced;
  modelMismatch: boolean;
  /** By the prices of the provider's batch tier; unknown unless every priced answer has such a price. */
  discounted: Priced;
  /** Some answers lack a price or usage, so the cost is a lower bound. */
  partial: boolean;
};

/** Sums usage and exact cost over the answers of a batch. A batch without answers costs nothing. */
export function batchTally() {
  let usage: Usage = NO_USAGE;
  let answers = 0;
  let mismatch = false;
  let meteredAnswers = 0;
  let completeAnswers = 0;
  const interactive = costTally();
  const discounted = costTally();
  const models = new Set<string | null>();
  return {
    add({ reading, priced, discounted: inBatchTier, another = false }: BatchAnswer): void {
      mismatch ||= another;
      answers += 1;
      models.add(reading.responseModel);
      if (reading.usageSource !== "none") {
        meteredAnswers += 1;
        if (reading.usageSource === "provider") completeAnswers += 1;
        usage = addUsage(usage, reading.usage);
      }
      interactive.add(priced);
      discounted.add(inBatchTier);
    },
    done(): BatchTotals {
      const [model = null, another] = models;
      const usageSource = meteredAnswers === 0 ? "none" : completeAnswers < answers ? "partial" : "provider";
      const responseModel = another === undefined ? model : null;
      const reading: Reading = {
        usage,
        usageSource,
        responseModel,
        serviceTier: null,
        reportedCostUsd: null,
      };
      if (answers === 0) {
        return { answers, partial: false, modelMismatch: false, reading, priced: FREE, discounted: FREE };
      }
      const costs = interactive.costs();
      const incomplete = costs < answers || completeAnswers < meteredAnswers || interactive.atLeast();
      return {
        answers,
        partial: costs > 0 && incomplete,
        modelMismatch: mismatch,
        reading,
        priced: interactive.sum(),
        discounted: discounted.costs() < costs ? UNPRICED : discounted.sum(),
      };
    },
  };
}

/** Sums exact costs and their price rows. */
function costTally() {
  let cost = ZERO;
  let tokenCost = ZERO;
  /** Null: the list lacks a price. */
  let list: Exact | null = ZERO;
  let isContract = false;
  let costs = 0;
  let atLeast = false;
  const rows = new Map<string, PriceRow>();
  const entries = new Set<string>();
  return {
    add(priced: Priced) {
      if (priced.costUsd === null) return;
      costs += 1;
      atLeast ||= priced.atLeast === true;
      cost = plus(cost, parseDecimal(priced.costUsd));
      tokenCost = plus(tokenCost, amount(priced.tokenCostUsd));
      const isOwn = priced.basis === "contract";
      isContract ||= isOwn;
      const listed = isOwn ? priced.listCostUsd : priced.costUsd;
      list = list && listed ? plus(list, parseDecimal(listed)) : null;
      if (!priced.price) return;
      entries.add(priced.price.entry);
      for (const row of priced.price.rows) addRow(rows, row);
    },
    /** How many costs were known. */
    costs: () => costs,
    /** Whether one of them is a lower bound. */
    atLeast: () => atLeast,
    sum(): Priced {
      if (costs === 0) return UNPRICED;
      const price = { entry: [...entries].sort().join(", "), rows: [...rows.values()] };
      const contract = isContract && { listCostUsd: list && formatDecimal(list) };
      return { costUsd: formatDecimal(cost), tokenCostUsd: formatDecimal(tokenCost), price, ...contract };
    },
  };
}

const amount = (text: string | null): Exact => (text === null ? ZERO : parseDecimal(text));

function addRow(rows: Map<string, PriceRow>, { unit, count, usdPerUnit }: PriceRow): void {
  const key = `${unit} ${usdPerUnit}`;
  rows.set(key, { unit, usdPerUnit, count: (rows.get(key)?.count ?? 0) + count });
}
