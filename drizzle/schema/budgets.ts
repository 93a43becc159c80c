import { index, smallint, uuid } from "drizzle-orm/pg-core";
import type { BudgetScope, PeriodName } from "#shared/admin/budgets.ts";
import { changedColumns, exact, instant, label, orgTable } from "./columns.ts";
import type { KeyLimits, Unpriced } from "./keys.ts";

export type Limits = Omit<KeyLimits, "budget_period"> & { budget_period?: PeriodName };

/**
 * A hard budget of a team, or a named one: limits count it as they count those of a key, under the account
 * `id`. What it spends is booked under `spendId`, or if absent under `id`.
 */
export type SharedBudget = {
  id: string;
  spendId?: string;
  team?: string;
  /** Its name, and what it is on; `scopeId` is null for the organisation. */
  budget?: { name: string; kind: BudgetScope; scopeId: string | null };
  limits: Budget;
};

export type Budget = Pick<Limits, "budget_usd" | "budget_period" | "unpriced" | "when_away">;

/**
 * Budgets of their own; those of teams, people and keys are with these. What is spent on a route, a tag or the
 * organisation is booked under `account` in `key_spend` while a budget names it (by triggers in the migration), and what was spent before
 * is summed up from the records of the longest period (gateway/stores/past-spend.ts).
 */
export const budgets = orgTable("budgets", {
  name: label("name").notNull(),
  kind: label("kind").$type<BudgetScope>().notNull(),
  /** As it was given, a key by its name or its id; null: the organisation. */
  scopeId: label("scope_id"),
  /** Where its spend is booked. */
  account: uuid("account").notNull(),
  amountUsd: exact("amount_usd").notNull(),
  period: label("period").$type<PeriodName>().notNull(),
  mode: label("mode").$type<"hard" | "soft">().notNull(),
  /** Per cent. */
  thresholds: smallint("thresholds").array().notNull(),
  unpriced: label("unpriced").$type<Unpriced>().notNull(),
  whenAway: label("when_away").$type<"local" | "refuse">().notNull(),
  /** Null: what was spent before it was made, or moved to its account, is not counted yet. */
  pastSummedAt: instant("past_summed_at"),
  ...changedColumns,
}).keyedBy(["name"], (table) => [index("budgets_account").on(table.orgId, table.account)]);
