import { boolean, integer } from "drizzle-orm/pg-core";
import type { Callout, Match } from "#shared/admin/guardrails.ts";
import { changedColumns, json, label, orgTable } from "./columns.ts";

/** Rules that refuse calls, tried in the order of `position`, then of their names. */
export const guardrails = orgTable("guardrails", {
  name: label("name").notNull(),
  position: integer("position").notNull(),
  enabled: boolean("enabled").notNull(),
  mode: label("mode").$type<"enforce" | "observe">().notNull(),
  match: json<Match>("match").notNull(),
  action: label("action").$type<"block" | "soft_deny">().notNull(),
  message: label("message"),
  callout: json<Callout>("callout"),
  ...changedColumns,
}).keyedBy(["name"]);
