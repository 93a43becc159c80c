import { pgTable, primaryKey } from "drizzle-orm/pg-core";
import { label, org } from "./columns.ts";

/** A known text, sealed with the installation's master key: only that key opens it. */
export const masterKeyChecks = pgTable(
  "master_key_checks",
  { orgId: org(), sealed: label("sealed").notNull() },
  (table) => [primaryKey({ columns: [table.orgId] })],
);
