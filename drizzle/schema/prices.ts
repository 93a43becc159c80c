import { index, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, labels, orgTable } from "./columns.ts";

/**
 * An administrator's price, which wins over the built-in list. Tokens: USD per million; the rest: USD per piece. The list's
 * price counts for what is null here.
 */
export const prices = orgTable("prices", {
  id: uuid("id").notNull(),
  /** Provider's name; null is any. */
  provider: label("provider"),
  model: label("model").notNull(),
  effectiveFrom: instant("effective_from").notNull(),
  /** The provider's name for the service tier that it applies to. */
  tier: label("tier").notNull().default("standard"),
  /** Times the list's price, or in another tier times the standard price; then there are no amounts. */
  multiplier: exact("multiplier"),
  input: exact("input"),
  output: exact("output"),
  cachedInput: exact("cached_input"),
  cacheWrite5m: exact("cache_write_5m"),
  cacheWrite1h: exact("cache_write_1h"),
  perImage: exact("per_image"),
  perCharacter: exact("per_character"),
  perCall: exact("per_call"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [index("prices_model").on(table.orgId, table.model, table.effectiveFrom)]);

/** What a contract takes off the list prices of a provider. */
export const discounts = orgTable("discounts", {
  id: uuid("id").notNull(),
  /** Provider's name. */
  provider: label("provider").notNull(),
  percent: exact("percent").notNull(),
  effectiveFrom: instant("effective_from").notNull(),
  /** Not included; null is no end. */
  effectiveTo: instant("effective_to"),
  /** Globs; null is all. */
  models: labels("models"),
  /** Null is all. */
  tiers: labels("tiers"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"]);
