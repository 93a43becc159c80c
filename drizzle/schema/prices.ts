import { index, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { exact, instant, label, org } from "./columns.ts";

/** An administrator's price, which wins over the built-in list. Tokens: USD per million; the rest: USD per piece. */
export const prices = pgTable(
  "prices",
  {
    orgId: org(),
    id: uuid("id").notNull(),
    /** Provider's name; null is any. */
    provider: label("provider"),
    model: label("model").notNull(),
    effectiveFrom: instant("effective_from").notNull(),
    input: exact("input").notNull(),
    output: exact("output").notNull(),
    cachedInput: exact("cached_input"),
    cacheWrite5m: exact("cache_write_5m"),
    cacheWrite1h: exact("cache_write_1h"),
    perImage: exact("per_image"),
    perCharacter: exact("per_character"),
    perCall: exact("per_call"),
    createdAt: instant("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.orgId, table.id] }),
    index("prices_model").on(table.orgId, table.model, table.effectiveFrom),
  ],
);
