import { label, orgTable } from "./columns.ts";

/** A known text, sealed with the installation's master key: only that key opens it. */
export const masterKeyChecks = orgTable("master_key_checks", { sealed: label("sealed").notNull() }).keyedBy(
  [],
);
