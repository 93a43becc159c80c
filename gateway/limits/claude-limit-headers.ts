/** What a budget's refusal depends on. `endsMs`: when its period ends. */
type Ending = { endsMs: number; nowMs: number; period: "day" | "month" };

/**
 * The headers with which Claude Code's own protocol says that a spending limit is reached. Only the whole set makes Claude Code show
 * the error's message alone, and end.
 */
export function claudeLimitHeaders({ endsMs, nowMs, period }: Ending): Record<string, string> {
  const reset = String(Math.ceil(endsMs / 1000));
  const prefix = "anthropic-ratelimit-unified";
  return {
    "retry-after": String(Math.max(1, Math.ceil((endsMs - nowMs) / 1000))),
    [`${prefix}-status`]: "rejected",
    [`${prefix}-reset`]: reset,
    [`${prefix}-overage-reset`]: reset,
    [`${prefix}-overage-utilization`]: "1",
    [`${prefix}-overage-surpassed-threshold`]: "1",
    [`${prefix}-overage-period`]: period === "day" ? "daily" : "monthly",
    [`${prefix}-overage-disabled-reason`]: "org_spend_cap_reached",
  };
}
