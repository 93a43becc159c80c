import { Budgets, type BudgetView } from "#shared/admin/budgets.ts";
import { GatewayError } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import { projectedUse } from "../limits/budget-use.ts";
import { parsePico, shortDecimal } from "../limits/money.ts";
import { type BudgetInForce, budgetsInForce } from "../stores/budgets.ts";
import { type AdminDeps, adminPart, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters } from "./list.ts";

const docs = adminRoute("teams");
const RISK_PERCENT = 80n;

/** `/admin/v1/budgets`: the used part of the budgets of teams, people and keys, the fullest first. */
export const adminBudgets = (deps: AdminDeps) =>
  adminPart(deps, "budgets").get(
    "",
    async ({ request, viewer }): Promise<Budgets> => {
      const onlyRisky = readOnlyRisky(request);
      const scope = recordScope(viewer);
      const team = scope && "team" in scope ? scope.team : null;
      await awaitSettled(deps);
      const now = deps.clock.now();
      const budgets = await readDatabase(deps, (db) => budgetsInForce(db, now));
      const data = budgets
        .filter(({ teams }) => team === null || teams.includes(team))
        .toSorted(byShareUsed)
        .map((budget) => viewOf(budget, now))
        .filter(({ at_risk: isRisky }) => isRisky || !onlyRisky);
      return { data };
    },
    docs({
      summary: "List budgets of teams, people and keys with what is used of them, the fullest first",
      description:
        "A manager of a team gets those of the team, of the teams below it, and of their people and keys.",
      role: "manager",
      query: { at_risk: "`true`: only those that are nearly used up, or will be at this pace." },
      answers: { 200: Budgets },
    }),
  );

function readOnlyRisky(request: Request): boolean {
  const { at_risk: text = "false" } = readParameters(request, ["at_risk"]);
  if (text === "true" || text === "false") return text === "true";
  throw new GatewayError("invalid_request", "at_risk: Expected true or false.");
}

const byShareUsed = (a: BudgetInForce, b: BudgetInForce): number => {
  const difference =
    parsePico(b.usedUsd) * parsePico(a.budgetUsd) - parsePico(a.usedUsd) * parsePico(b.budgetUsd);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

function viewOf(
  { kind, name, owner, budgetUsd, usedUsd, period, dates }: BudgetInForce,
  now: Date,
): BudgetView {
  const used = parsePico(usedUsd);
  const budget = parsePico(budgetUsd);
  const projected = projectedUse(used, dates, now);
  return {
    kind,
    name,
    owner,
    budget_usd: budgetUsd,
    period,
    ...dates,
    used_usd: shortDecimal(used),
    projected_usd: projected === null ? null : shortDecimal(projected),
    at_risk: used * 100n > budget * RISK_PERCENT || (projected !== null && projected > budget),
  };
}
