import type { JsonDocument } from "#shared/admin/claude-settings.ts";
import type { KeyTemplate } from "#shared/admin/keys.ts";
import { changedColumns, exact, json, label, orgTable } from "./columns.ts";
import type { Unpriced } from "./keys.ts";

/** The teams of an organisation, as a tree. */
export const teams = orgTable("teams", {
  name: label("name").notNull(),
  /** The team above; null: none. */
  parent: label("parent"),
  /** Null: inherited from the nearest team above that has one. */
  costCenter: label("cost_center"),
  /** Exact decimal, USD: budget of the team and teams below it per `budget_period`; null: unlimited. */
  budgetUsd: exact("budget_usd"),
  budgetPeriod: label("budget_period").$type<"day" | "month">(),
  /** Null: refuse, or there is no budget. */
  unpriced: label("unpriced").$type<Unpriced>(),
  /** Scopes and limits of the keys that its people make for themselves; null: those of the nearest team above. */
  keyTemplate: json<KeyTemplate>("key_template"),
  /** Claude Code's managed settings; null: those of the nearest team above. */
  claudeSettings: json<JsonDocument>("claude_settings"),
  ...changedColumns,
}).keyedBy(["name"]);
