import type { Database } from "#drizzle/database.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import type { Me } from "#shared/admin/me.ts";
import type { Clock } from "#shared/clock.ts";
import type { Result, Spec } from "#shared/report.ts";
import { parsePico, shortDecimal } from "../limits/money.ts";
import { type KeyWithSecrets, spellingsOf, spentSince } from "../stores/keys.ts";
import { type ReportWriter, resultOf } from "../stores/reports/report-writer.ts";
import { withStoreErrors } from "../stores/store-errors.ts";

export type OwnUsageDeps = {
  database: Database;
  reportWriter: Pick<ReportWriter, "write">;
  /** Resolves once the calls that have ended so far are in the database. */
  settled(): Promise<void>;
  clock: Clock;
};

/** A report of the calls of one person's keys; a label of a call charges no one. @throws GatewayError invalid_request for an impossible range. */
export async function ownReport(
  deps: OwnUsageDeps,
  email: string,
  spec: Omit<Spec, "source" | "filters">,
): Promise<Result> {
  const subject = await withStoreErrors(() => spellingsOf(deps.database.db, email));
  await deps.settled();
  const full: Spec = { ...spec, source: "requests", filters: { subject } };
  return await resultOf(deps.reportWriter, full, { now: deps.clock.now(), byOwner: true });
}

/** A person's spend this month, and the rest of the keys' budgets. */
export async function ownMonth(
  deps: OwnUsageDeps,
  email: string,
  keys: readonly KeyWithSecrets[],
): Promise<Me["month"]> {
  const { total } = await ownReport(deps, email, {
    dimensions: [],
    measures: ["cost_usd", "requests"],
    range: "mtd",
    compare: "none",
    view: "table",
  });
  const { cost_usd: cost = null, requests = null } = total.current ?? {};
  // No call costs nothing; a cost that is unknown stays so.
  const usd = requests === 0 || requests === null ? "0" : readDecimal(cost);
  return { cost_usd: usd, floor: total.floor, ...(await budgetOf(deps, keys)) };
}

/** Only if every key that may still be used has a monthly budget: otherwise the sum would not be a limit. */
async function budgetOf({ database, clock }: OwnUsageDeps, keys: readonly KeyWithSecrets[]) {
  const now = clock.now();
  const usable = keys.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now.getTime());
  const budgets = usable.map(({ id, limits }) => ({
    id,
    usd: limits?.budget_period === "month" ? (limits.budget_usd ?? null) : null,
  }));
  if (budgets.length === 0) return {};
  const monthBegan = `${now.toISOString().slice(0, 7)}-01`;
  const ids = budgets.map(({ id }) => id);
  const spent = await withStoreErrors(() => spentSince(database.db, ids, monthBegan));
  let [budget, left] = [0n, 0n];
  for (const { id, usd } of budgets) {
    if (usd === null) return {};
    const rest = parsePico(usd) - parsePico(spent.get(id) ?? "0");
    budget += parsePico(usd);
    left += rest > 0n ? rest : 0n;
  }
  return { budget_usd: shortDecimal(budget), budget_left_usd: shortDecimal(left) };
}
