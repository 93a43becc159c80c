import type { ClientKey } from "../directory.ts";

type Budgeted = { budget_usd?: string; unpriced?: "refuse" | "allow" } | null | undefined;

const refuses = (budget: Budgeted): boolean =>
  budget?.budget_usd !== undefined && budget.unpriced !== "allow";

/** Whether a budget that the key's calls count in refuses models without a price: it could not bound what they cost. */
export const refusesUnpriced = ({ limits, person, teamBudgets }: ClientKey): boolean =>
  refuses(limits) || refuses(person?.budget) || teamBudgets.some((team) => refuses(team.limits));
