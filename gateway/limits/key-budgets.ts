import type { Budget, ClientKey } from "../directory.ts";

type Budgeted = Pick<ClientKey, "limits" | "person" | "teamBudgets">;

/** Whether a budget that the key's calls count in is as asked: its own, its owner's, or one of its teams'. */
const hasBudget = ({ limits, person, teamBudgets }: Budgeted, is: (budget: Budget) => boolean): boolean =>
  isOne(limits, is) || isOne(person?.budget, is) || teamBudgets.some((team) => isOne(team.limits, is));

const isOne = (budget: Budget | null | undefined, is: (budget: Budget) => boolean): boolean =>
  budget?.budget_usd !== undefined && is(budget);

/** Whether the key's calls count in any budget. */
export const isBudgeted = (key: Budgeted): boolean => hasBudget(key, () => true);

/** Whether one of these budgets refuses models without a price: it could not bound what they cost. */
export const refusesUnpriced = (key: Budgeted): boolean =>
  hasBudget(key, ({ unpriced }) => unpriced !== "allow");
