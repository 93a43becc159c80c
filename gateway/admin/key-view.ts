import type { KeyLimits } from "#drizzle/schema/keys.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import { type KeyBody, KeyView } from "#shared/admin/keys.ts";
import { GatewayError } from "../errors.ts";
import type { KeyWithSecrets } from "../stores/keys.ts";
import { viewAs } from "./view-as.ts";

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

/**
 * A key's limits as they are stored.
 * @throws GatewayError invalid_request for a period without a budget, or `when_away` without a limit.
 */
export function limitsOf(limits: KeyBody["limits"]): KeyLimits | null {
  if (!limits) return null;
  const { budget_usd, budget_period, when_away, ...rates } = limits;
  if (when_away !== undefined && budget_usd === undefined && Object.keys(rates).length === 0) {
    throw new GatewayError("invalid_request", "/limits/when_away: Expected only with a limit.");
  }
  const budget = readDecimal(budget_usd);
  const others = { ...rates, ...(when_away !== undefined && { when_away }) };
  if (budget !== null) return { ...others, budget_usd: budget, budget_period: budget_period ?? "month" };
  if (budget_period === undefined) return others;
  throw new GatewayError("invalid_request", "/limits/budget_period: Expected only with budget_usd.");
}
