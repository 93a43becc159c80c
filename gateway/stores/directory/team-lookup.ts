import type { ClientKey, TeamBudget } from "../../directory.ts";
import type { TeamRow } from "../teams.ts";

type Place = Pick<ClientKey, "teams" | "costCenter" | "teamBudgets">;
type Team = Pick<TeamRow, "name" | "parent" | "costCenter" | "budgetUsd" | "budgetPeriod">;

const NO_TEAM: Place = { teams: null, costCenter: null, teamBudgets: [] };

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
    teamBudgets: way.flatMap(budgetOf),
  };
}

/** The account of a team's budget. The trigger of `requests` books what its calls cost there, by the same rule. */
export function teamAccount(team: string): string {
  const hex = new Bun.CryptoHasher("md5").update(`team ${team}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function budgetOf({ name, budgetUsd, budgetPeriod }: Team): TeamBudget[] {
  if (budgetUsd === null) return [];
  const limits = { budget_usd: budgetUsd, budget_period: budgetPeriod ?? "month" };
  return [{ id: teamAccount(name), team: name, limits }];
}
