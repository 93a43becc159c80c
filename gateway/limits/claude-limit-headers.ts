import type { PeriodName } from "#shared/admin/budgets.ts";
import type { BudgetUse } from "./budget-use.ts";

/** Its words; it has none for a quarter. */
const OVERAGE_PERIODS = {
  day: "daily",
  week: "weekly",
  month: "monthly",
  quarter: "monthly",
} as const satisfies Record<PeriodName, string>;

const PREFIX = "anthropic-ratelimit-unified";

/** The facts behind a budget's refusal. `endsMs`: when its period ends. */
type Ending = { endsMs: number; nowMs: number; period: PeriodName };

/** Claude Code's headers for a reached spending limit. Only the whole set makes it show the message alone, and end. */
export function claudeLimitHeaders({ endsMs, nowMs, period }: Ending): Record<string, string> {
  const reset = String(Math.ceil(endsMs / 1000));
  return {
    "retry-after": String(Math.max(1, Math.ceil((endsMs - nowMs) / 1000))),
    [`${PREFIX}-status`]: "rejected",
    [`${PREFIX}-reset`]: reset,
    [`${PREFIX}-overage-reset`]: reset,
    [`${PREFIX}-overage-utilization`]: "1",
    [`${PREFIX}-overage-surpassed-threshold`]: "1",
    [`${PREFIX}-overage-period`]: OVERAGE_PERIODS[period],
    [`${PREFIX}-overage-disabled-reason`]: "org_spend_cap_reached",
  };
}

/** Claude Code warns once a call's budget is used beyond the lower of these, and again beyond the higher one. */
const WARNS_BEYOND = [0.95, 0.75] as const;

/**
 * The limit headers of an answer to a caller who is signed in by Claude Code's own protocol: how much of the fullest budget is used, by
 * which Claude Code warns, and nothing of a provider's limits. Null for the key of any other program, which gets the provider's headers.
 */
export function ownLimitHeaders(program: string | null | undefined, budget: BudgetUse | undefined) {
  if (program !== "claude_code") return null;
  return budget === undefined ? {} : spendHeaders(budget);
}

function spendHeaders({ utilization, endsMs }: BudgetUse): Record<string, string> {
  const reset = String(Math.floor(endsMs / 1000));
  const surpassed = WARNS_BEYOND.find((threshold) => utilization > threshold);
  const status = surpassed === undefined ? "allowed" : "allowed_warning";
  return {
    [`${PREFIX}-status`]: status,
    [`${PREFIX}-representative-claim`]: "overage",
    [`${PREFIX}-reset`]: reset,
    [`${PREFIX}-overage-status`]: status,
    [`${PREFIX}-overage-reset`]: reset,
    [`${PREFIX}-overage-utilization`]: String(utilization),
    ...(surpassed !== undefined && { [`${PREFIX}-overage-surpassed-threshold`]: String(surpassed) }),
  };
}
