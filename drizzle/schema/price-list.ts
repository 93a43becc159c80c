import type { ModelInfo } from "@pydantic/genai-prices";
import { uuid } from "drizzle-orm/pg-core";
import { instant, json, label, labels, leaseColumns, orgTable } from "./columns.ts";

export const priceListFetches = orgTable("price_list_fetches", {
  fetchedAt: instant("fetched_at"),
  /** Models that it did not have, although the current list does: they keep their price. */
  missing: labels("missing"),
  ...leaseColumns,
}).keyedBy([]);

/** `new`: current, because it prices what had no price. `waiting`: another price of a known model, current once approved. */
export const LIST_CHANGE_STATES = ["new", "waiting", "approved", "dismissed"] as const;
export type ListChangeState = (typeof LIST_CHANGE_STATES)[number];

/** What the fetched list has beside the built-in one. */
export const priceListChanges = orgTable("price_list_changes", {
  id: uuid("id").notNull(),
  provider: label("provider").notNull(),
  /** The list's model. */
  model: label("model").notNull(),
  state: label("state").$type<ListChangeState>().notNull(),
  /** Calls from then on have this price; null: all calls. */
  effectiveFrom: instant("effective_from"),
  /** As the list has it. */
  entry: json<ModelInfo>("entry").notNull(),
  /** The prices before; null: there were none. */
  before: json<ModelInfo["prices"]>("before"),
  seenAt: instant("seen_at").notNull(),
  /** Who approved or dismissed it, and when. */
  actor: label("actor"),
  decidedAt: instant("decided_at"),
}).keyedBy(["id"]);
