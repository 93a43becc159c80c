import type { Budget, SharedBudget } from "#drizzle/schema/budgets.ts";
import type { ClientKey } from "../directory.ts";

type Budgeted = Pick<ClientKey, "limits" | "person" | "sharedBudgets">;

/** Whether a budget that the key's calls count in is as asked: its own, its owner's, or one of those that it shares. */
const hasBudget = ({ limits, person, sharedBudgets }: Budgeted, is: (budget: Budget) => boolean): boolean =>
  isOne(limits, is) ||
  isOne(person?.budget, is) ||
  sharedBudgets.some(({ limits: shared }) => isOne(shared, is));

const isOne = (budget: Budget | null | undefined, is: (budget: Budget) => boolean): boolean =>
  budget?.budget_usd !== undefined && is(budget);

/** Whether the key's calls count in any budget. */
export const isBudgeted = (key: Budgeted): boolean => hasBudget(key, () => true);

/** Whether one of these budgets refuses models without a price: it could not bound what they cost. */
export const refusesUnpriced = (key: Budgeted): boolean =>
  hasBudget(key, ({ unpriced }) => unpriced !== "allow");

/** The call with its key as it counts: in the budgets of these routes and tags, too. */
export function withCallBudgets<T extends { key: ClientKey }>(
  call: T,
  { callBudgets: budgets }: { callBudgets: readonly SharedBudget[] },
  { routes, tags }: { routes: readonly string[]; tags: readonly string[] },
): T {
  if (budgets.length === 0) return call;
  const its = budgets.filter(({ budget }) =>
    (budget?.kind === "route" ? routes : tags).includes(budget?.scopeId ?? ""),
  );
  const { key } = call;
  return its.length === 0
    ? call
    : { ...call, key: { ...key, sharedBudgets: [...key.sharedBudgets, ...its] } };
}
