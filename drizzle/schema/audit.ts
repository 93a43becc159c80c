import { pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { instant, label, org } from "./columns.ts";

export const AUDITED = [
  "body.read",
  "body_capture.on",
  "body_capture.off",
  "mcp_server.set",
  "mcp_server.deleted",
  "hook_policy.set",
  "hook_policy.deleted",
  "report.saved",
  "report.deleted",
  "prices.repriced",
  "digest_webhook.set",
  "digest_webhook.deleted",
] as const;

/** Who did what to what, when. Rows are only ever added. */
export const auditEntries = pgTable(
  "audit_entries",
  {
    orgId: org(),
    /** uuidv7: in the order of time. */
    id: uuid("id").notNull(),
    at: instant("at").notNull(),
    actor: label("actor").notNull(),
    action: label("action").$type<(typeof AUDITED)[number]>().notNull(),
    /** A request's id, or the name of a route, a tool server, a saved report or a host, or a window. */
    subject: label("subject").notNull(),
  },
  (table) => [primaryKey({ columns: [table.orgId, table.id] })],
);
