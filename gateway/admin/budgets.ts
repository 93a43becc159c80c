import { type Database, within } from "#drizzle/database.ts";
import {
  BudgetBody,
  BudgetPatch,
  Budgets,
  type BudgetView,
  NamedBudget,
  THRESHOLDS,
} from "#shared/admin/budgets.ts";
import { readDecimal } from "#shared/admin/fields.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { errorFields } from "#shared/log.ts";
import { refuse } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import { projectedUse } from "../limits/budget-use.ts";
import { parsePico, shortDecimal } from "../limits/money.ts";
import type { Forecast } from "../reports/forecast.ts";
import { type BudgetInForce, budgetsInForce } from "../stores/budgets.ts";
import { budgetForecasts } from "../stores/day-costs.ts";
import { type BudgetRow, budgetRows } from "../stores/named-budgets.ts";
import { sumPastSpend } from "../stores/past-spend.ts";
import { patchedRow } from "../stores/rows.ts";
import { type AdminDeps, awaitSettled, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { estimateOf } from "./forecast.ts";
import { PAGE_OF_ALL_QUERY, pageOfAll, readParameters } from "./list.ts";
import { namedResource } from "./named-resource.ts";

const docs = adminRoute("budgets");
const RISK_PERCENT = 80n;
/** A budget's answer does not wait longer for what was spent before. */
const PAST_MAX_MS = 5_000;

/** `/admin/v1/budgets`: budgets with names of their own; the list has all budgets with what is used of them. */
export const adminBudgets = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "budgets",
    hasOwnList: true,
    tag: "budgets",
    nouns: { one: "a budget", many: "budgets" },
    words: {
      create: {
        description:
          "A call counts in every budget on its organisation, its key, the key's owner, its team and the teams above, its route, and its tags; each hard one must have room for it. What was spent in the current period counts from the start. The budgets that teams, people and keys carry are set there.",
      },
    },
    schemas: { body: BudgetBody, patch: BudgetPatch, view: NamedBudget },
    store: budgetRows,
    audit: { set: "budget.set", deleted: "budget.deleted" },
    made: ({ name, body, now }) => changed(newBudget(name, now), body, now),
    patched: ({ current, body, now }) => changed(current, body, now),
    // The budget is saved: what is not counted now is counted later (alerts/alerts.ts).
    saved: () =>
      within(PAST_MAX_MS, sumPastSpend(deps.database, PAST_MAX_MS)).catch((error) =>
        deps.log.warn(errorFields(error), "the past of a budget is not counted yet"),
      ),
    view: ({ name, createdAt, updatedAt, ...row }) => ({
      name,
      ...termsOf({ ...row, on: { kind: row.kind, id: row.scopeId }, budgetUsd: row.amountUsd }),
      created_at: createdAt,
      updated_at: updatedAt,
    }),
  }).get(
    "",
    async ({ request, viewer }): Promise<Budgets> => {
      const { at_risk: only = "false", ...page } = readParameters(request, ["limit", "after", "at_risk"]);
      if (only !== "true" && only !== "false") refuse("at_risk: Expected true or false.");
      const scope = recordScope(viewer);
      const team = scope && "team" in scope ? scope.team : null;
      await awaitSettled(deps);
      const now = deps.clock.now();
      const budgets = await readDatabase(deps, async (db) =>
        budgetViews(
          db,
          await budgetsInForce(db, now, ({ teams }) => team === null || teams.includes(team)),
          now,
        ),
      );
      const shown = budgets.filter(({ at_risk: isRisky }) => isRisky || only === "false");
      // A person's own keys may have several.
      return pageOfAll(shown, page, (it) => [it.kind, it.name, it.period, it.budget_usd].join("/"));
    },
    docs({
      summary: "List all budgets with what is used of them, the fullest first",
      description:
        "Those of teams, people and keys are among them; `kind` says where a budget is kept. A manager of a team gets those of the team, of the teams below it, and of their people and keys.",
      role: "manager",
      query: {
        ...PAGE_OF_ALL_QUERY,
        at_risk: "`true`: only those that are nearly used up, or will be at this pace.",
      },
      answers: { 200: Budgets },
    }),
  );

const newBudget = (name: string, now: Date): BudgetRow => ({
  orgId: DEFAULT_ORG,
  name,
  kind: "organisation",
  scopeId: null,
  account: "",
  amountUsd: "0",
  pastSummedAt: null,
  period: "month",
  mode: "hard",
  thresholds: THRESHOLDS,
  unpriced: "refuse",
  whenAway: "local",
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});

const changed = (
  row: BudgetRow,
  { on, amount_usd: usd, when_away: whenAway, name: _, ...others }: BudgetPatch & { name?: string },
  now: Date,
): BudgetRow =>
  patchedRow(
    row,
    {
      ...others,
      ...(whenAway && { whenAway }),
      ...(on && { kind: on.kind, scopeId: on.id ?? null }),
      amountUsd: readDecimal(usd) ?? row.amountUsd,
    },
    now,
  );

type Terms = Pick<
  BudgetInForce,
  "on" | "budgetUsd" | "period" | "mode" | "thresholds" | "unpriced" | "whenAway"
>;

const termsOf = ({ on, budgetUsd, period, mode, thresholds, unpriced, whenAway }: Terms) => ({
  on,
  amount_usd: budgetUsd,
  period,
  mode,
  thresholds,
  unpriced,
  when_away: whenAway,
});

const byShareUsed = (a: BudgetInForce, b: BudgetInForce): number => {
  const difference =
    parsePico(b.usedUsd) * parsePico(a.budgetUsd) - parsePico(a.usedUsd) * parsePico(b.budgetUsd);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
};

export const budgetViews = async (db: Database["db"], budgets: readonly BudgetInForce[], now: Date) =>
  (await budgetForecasts(db, budgets, now)).toSorted(byShareUsed).map((budget) => viewOf(budget, now));

function viewOf(budget: BudgetInForce & { forecast: Forecast | null }, now: Date): BudgetView {
  const { kind, name, owner, budgetUsd, usedUsd, dates, forecast } = budget;
  const used = parsePico(usedUsd);
  const limit = parsePico(budgetUsd);
  const projected = projectedUse(used, dates, now);
  return {
    kind,
    name,
    owner,
    ...termsOf(budget),
    budget_usd: budgetUsd,
    ...dates,
    used_usd: shortDecimal(used),
    projected_usd: projected === null ? null : shortDecimal(projected),
    forecast: forecast && estimateOf(forecast),
    at_risk:
      used * 100n > limit * RISK_PERCENT ||
      (projected !== null && projected > limit) ||
      (forecast?.expectedUsd ?? 0) > Number(budgetUsd),
  };
}
