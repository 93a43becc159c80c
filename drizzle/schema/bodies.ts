import { index, uuid } from "drizzle-orm/pg-core";
import { instant, label, orgTable } from "./columns.ts";

/** Encrypted requests and answers on routes with body capture. Besides `kept_answers` the only table with text. */
export const capturedBodies = orgTable("captured_bodies", {
  requestId: uuid("request_id").notNull(),
  /** AES-256-GCM, sealed with the master key and bound to the request. */
  sealed: label("sealed").notNull(),
  capturedAt: instant("captured_at").notNull(),
  expiresAt: instant("expires_at").notNull(),
}).keyedBy(["requestId"], (table) => [index("captured_bodies_expires_at").on(table.expiresAt)]);
