import type { Budget, SharedBudget } from "#drizzle/schema/budgets.ts";
import type { ClientKey } from "../../directory.ts";
import { teamAccount } from "../../limits/account-ids.ts";
import type { TeamRow } from "../teams.ts";

type Place = Pick<ClientKey, "teams" | "costCenter" | "sharedBudgets">;
type Team = Pick<TeamRow, "name" | "parent" | "costCenter" | keyof BudgetRow>;

type BudgetRow = Pick<TeamRow, "budgetUsd" | "budgetPeriod" | "unpriced">;

const NO_TEAM: Place = { teams: null, costCenter: null, sharedBudgets: [] };

/** Looks up a team with those above it, its cost centre (its own, or the nearest one above), and their budgets. */
export function teamLookup(rows: readonly Team[]): (name: string | null) => Place {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const known = new Map<string, Place>();
  return (name) => {
    if (name === null) return NO_TEAM;
    const place = known.get(name) ?? placeOf(wayUp(byName, name));
    known.set(name, place);
    return place;
  };
}

function wayUp(byName: ReadonlyMap<string, Team>, name: string): Team[] {
  const way: Team[] = [];
  for (let team = byName.get(name); team && !way.includes(team); team = byName.get(team.parent ?? "")) {
    way.push(team);
  }
  return way;
}

function placeOf(way: readonly Team[]): Place {
  if (way.length === 0) return NO_TEAM;
  return {
    teams: way.map(({ name }) => name),
    costCenter: way.find(({ costCenter }) => costCenter !== null)?.costCenter ?? null,
    sharedBudgets: way.flatMap(teamBudgetOf),
  };
}

/** Null: there is no budget. */
export function budgetOf({ budgetUsd, budgetPeriod, unpriced }: BudgetRow): Budget | null {
  if (budgetUsd === null) return null;
  const period = budgetPeriod ?? "month";
  return { budget_usd: budgetUsd, budget_period: period, unpriced: unpriced ?? "refuse" };
}

function teamBudgetOf(team: Team): SharedBudget[] {
  const limits = budgetOf(team);
  return limits ? [{ id: teamAccount(team.name), team: team.name, limits }] : [];
}
