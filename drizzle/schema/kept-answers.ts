import { index, uuid } from "drizzle-orm/pg-core";
import { instant, label, orgTable } from "./columns.ts";

/** Encrypted requests and answers of translated responses, for later calls. Deleted an hour after their last use. */
export const keptAnswers = orgTable("kept_answers", {
  /** The answer's own id. */
  id: label("id").notNull(),
  /** Only this key finds it. */
  keyId: uuid("key_id").notNull(),
  /** The answer that this one continues; null if it is the first. */
  previousId: label("previous_id"),
  /** AES-256-GCM, sealed with the master key and bound to the client key and the id. */
  sealed: label("sealed").notNull(),
  expiresAt: instant("expires_at").notNull(),
}).keyedBy(["id"], (table) => [index("kept_answers_expires_at").on(table.expiresAt)]);
