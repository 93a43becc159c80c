import { type Static, Type } from "@sinclair/typebox";
import { closed, Integer, NumeralOrNull, nullable, Text } from "../schema.ts";

/** Why a bill differs from what was metered, in the order of the waterfall. */
export const PART_MEANING = {
  unknown_keys: "keys that the vendor names and the account does not",
  unpriced: "used here without a price, or of a kind that no record counts",
  seen_in_part: "answers that were cut, or whose use was not reported",
  price_list: "the vendor's price differs from the price list",
  price_contract: "the vendor's price differs from your contract's",
  tier: "billed in another service tier or batch than metered",
  taxes_and_credits: "taxes, credits, fees and purchases",
  clock: "days that begin at another time, and calls that ran over their end",
  currency: "another currency: its rate is unknown, or the price differs by it",
  unexplained: "no reason is known",
} as const;

export type ReconciliationPart = keyof typeof PART_MEANING;
// The keys of the table above.
export const RECONCILIATION_PARTS = Object.keys(PART_MEANING) as ReconciliationPart[];

const usd = Text("Exact decimal, USD.");
const Parts = closed(
  // One member for each part.
  Object.fromEntries(RECONCILIATION_PARTS.map((part) => [part, Text(`${PART_MEANING[part]}.`)])) as Record<
    ReconciliationPart,
    typeof usd
  >,
);

const figures = {
  billed_usd: usd,
  metered_usd: usd,
  difference_usd: Text("Billed less metered: the sum of the parts, to the last digit."),
  parts: Parts,
};

export const ReconciledAccount = closed({
  account: Type.String(),
  vendor: Type.String(),
  time_zone: Type.String(),
  days: Integer("Days with a bill, which alone are compared."),
  days_without_bill: Type.Array(Type.String({ format: "date" }), { description: "The first 31 of them." }),
  ...figures,
  unexplained_share: NumeralOrNull("Of what is billed; null: nothing is."),
  unconverted: Type.Record(Type.String(), Type.String(), {
    description: "Billed in currencies without a rate, and not part of `billed_usd`.",
  }),
  unknown_keys: Type.Array(closed({ key: Type.String(), billed_usd: usd })),
  items: Type.Array(closed({ item: Type.String(), kind: nullable(Type.String()), ...figures }), {
    description: "By model and what is counted, the largest difference first; at most 500.",
  }),
});
export type ReconciledAccount = Static<typeof ReconciledAccount>;

export const Reconciliation = closed({
  from: Type.String({ format: "date" }),
  to: Type.String({ format: "date", description: "Last day." }),
  accounts: Type.Array(ReconciledAccount),
  total: closed({ ...figures, unexplained_share: nullable(Type.Number()) }),
});
export type Reconciliation = Static<typeof Reconciliation>;
