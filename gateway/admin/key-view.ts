import type { KeyLimits, Unpriced } from "#drizzle/schema/keys.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import { type KeyBody, KeyView } from "#shared/admin/keys.ts";
import { viewAs } from "#shared/view-as.ts";
import { refuse } from "../errors.ts";
import type { KeyWithSecrets } from "../stores/keys.ts";

/** A client key as the API shows it. */
export const keyView = (key: KeyWithSecrets, now: Date): KeyView =>
  viewAs(KeyView, {
    ...key,
    status: statusOf(key, now),
    secrets: key.secrets.map(({ lastFour, createdAt, expiresAt }) => ({
      last_four: lastFour,
      created_at: createdAt,
      expires_at: expiresAt,
    })),
  });

function statusOf({ revokedAt, expiresAt }: KeyWithSecrets, now: Date): KeyView["status"] {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime() ? "expired" : "active";
}

/** A key's limits as stored. @throws GatewayError invalid_request for a period or `when_away` without its limit. */
export function limitsOf(limits: KeyBody["limits"]): KeyLimits | null {
  if (!limits) return null;
  const { budget_usd, budget_period, unpriced, when_away, ...rates } = limits;
  if (when_away !== undefined && budget_usd === undefined && Object.keys(rates).length === 0)
    refuse("/limits/when_away: Expected only with a limit.");
  const budget = readDecimal(budget_usd);
  const others = { ...rates, ...(when_away !== undefined && { when_away }) };
  if (budget !== null) {
    const period = budget_period ?? "month";
    return { ...others, budget_usd: budget, budget_period: period, ...(unpriced && { unpriced }) };
  }
  requireNoBudgetWords({ budget_period, unpriced }, "/limits");
  return others;
}

type BudgetBody = {
  budget_usd?: unknown;
  budget_period?: Period | null | undefined;
  unpriced?: Unpriced | null | undefined;
};
type BudgetRow = { budgetUsd: string | null; budgetPeriod: Period | null; unpriced: Unpriced | null };
type Period = "day" | "month";

/** The budget of a team or a person after a change. @throws GatewayError invalid_request for its words without a budget. */
export function changedBudget(row: BudgetRow, body: BudgetBody): BudgetRow {
  const budgetUsd = body.budget_usd === undefined ? row.budgetUsd : readDecimal(body.budget_usd);
  if (budgetUsd === null) {
    requireNoBudgetWords(body, "");
    return { budgetUsd, budgetPeriod: null, unpriced: null };
  }
  return {
    budgetUsd,
    budgetPeriod: body.budget_period ?? row.budgetPeriod ?? "month",
    unpriced: body.unpriced === undefined ? (row.unpriced ?? "refuse") : (body.unpriced ?? "refuse"),
  };
}

function requireNoBudgetWords(words: Omit<BudgetBody, "budget_usd">, place: string): void {
  for (const word of ["budget_period", "unpriced"] as const) {
    if (!words[word]) continue;
    refuse(`${place}/${word}: Expected only with budget_usd.`);
  }
}
