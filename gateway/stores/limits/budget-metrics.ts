import { Gauge, type Registry } from "prom-client";
import type { PeriodName } from "#shared/admin/budgets.ts";
import type { Clock } from "#shared/clock.ts";
import type { ClientKey, Directory } from "../../directory.ts";
import { type Pico, parsePico } from "../../limits/money.ts";
import { budgetPeriodAt } from "../../limits/window.ts";
import { limitedKeys } from "./accounts.ts";
import { type KeySpend, spentIn } from "./key-spend.ts";

/** Keys and teams whose budgets are shown. */
const SHOWN_MAX = 200;
const LABELS = ["kind", "name", "period"];

type Budget = { id: string; spendId: string; labels: string[]; usd: Pico; period: PeriodName };
type BudgetUse = Budget & { used: Pico };

export type BudgetSources = {
  directory(): Directory;
  spend(): KeySpend;
  clock: Clock;
};

/**
 * The budgets of keys, people and teams and their use by all gateways, as last read from the database, at most about a minute
 * ago. Beyond 200 only those with the largest share used are shown, so that the ones to act on are always among them.
 */
export function budgetMetrics(registry: Registry, sources: BudgetSources): void {
  const gauge = (name: string, help: string, amountOf: (use: BudgetUse) => Pico) =>
    new Gauge({
      name,
      help,
      labelNames: LABELS,
      // All workers read the same figures, at different times.
      aggregator: "max",
      registers: [registry],
      collect() {
        this.reset();
        for (const use of mostUsed(sources)) this.labels(...use.labels).set(Number(amountOf(use)) / 1e12);
      },
    });
  gauge(
    "tallygate_budget_usd",
    "Budget of a key, a person or a team in its current period, in USD.",
    ({ usd }) => usd,
  );
  gauge(
    "tallygate_budget_used_usd",
    "Recorded cost that counts in the budget of a key, a person or a team, in USD. Reports are exact.",
    ({ used }) => used,
  );
}

function mostUsed({ directory, spend, clock }: BudgetSources): BudgetUse[] {
  const now = clock.now();
  const spent = spend();
  const uses = budgetsOf(directory(), now).map((budget) => ({
    ...budget,
    used: spentIn(spent, budget.spendId, budgetPeriodAt(budget.period, now)),
  }));
  // Of two shares the larger is the one whose cross product is.
  const byShare = (a: BudgetUse, b: BudgetUse) => {
    const [left, right] = [b.used * a.usd, a.used * b.usd];
    if (left === right) return 0;
    return left > right ? 1 : -1;
  };
  return uses.length > SHOWN_MAX ? uses.toSorted(byShare).slice(0, SHOWN_MAX) : uses;
}

function budgetsOf({ keys, callBudgets }: Directory, now: Date): Budget[] {
  const found = new Map<string, Budget>();
  for (const key of keys.values()) {
    if (key.expiresAtMs !== null && key.expiresAtMs <= now.getTime()) continue;
    for (const budget of budgetsOfKey({ ...key, sharedBudgets: [...key.sharedBudgets, ...callBudgets] }))
      found.set(budget.id, budget);
  }
  return [...found.values()];
}

function budgetsOfKey(key: ClientKey): Budget[] {
  return limitedKeys(key).flatMap(({ of, id, spendId, name, owner, team, budget, limits }) => {
    if (limits.budget_usd === undefined) return [];
    const period = limits.budget_period ?? "month";
    const whose = { key: name, own_keys: owner, person: owner, team, budget: budget?.name }[of] ?? name;
    return [{ id, spendId, labels: [of, whose, period], usd: parsePico(limits.budget_usd), period }];
  });
}
