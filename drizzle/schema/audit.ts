import { jsonb, uuid } from "drizzle-orm/pg-core";
import { words } from "#shared/words.ts";
import { instant, label, orgTable } from "./columns.ts";

/** Every action that the audit log can name. */
export const AUDITED = words(
  "installation.created master_key.replaced provider.set provider.deleted route.set route.deleted",
  "body_capture.on body_capture.off body.read key.created key.changed key.rotated key.revoked",
  "seat.changed seat.created seat.deleted seat.imported",
  "commitment.changed commitment.created commitment.deleted",
  "discount.changed discount.created discount.deleted price.created price.changed price.deleted",
  "price_list.fetched price_list.approved price_list.dismissed prices.repriced prices.restated",
  "repricing.cancelled restatement.cancelled period.closed period.reopened guardrail.set guardrail.deleted",
  "mcp_server.set mcp_server.deleted vendor_account.set vendor_account.deleted vendor_bill.read",
  "alert.set alert.deleted alert.tested budget.set budget.deleted hook_policy.set hook_policy.deleted",
  "team.set team.deleted report.saved report.deleted settings.changed repositories.backfill",
  "pull_request.claim_accepted setup_link.created setup_link.used",
  "github_app.registered github_app.webhook_secret_changed digest_webhook.set digest_webhook.deleted",
  "export_destination.set export_destination.deleted person.created person.changed person.disabled",
  "account.linked account.unlinked account.moved account.issuer_set",
  "sign_in_link.created sign_in sign_in.failed sign_out session.revoked device.approved device.denied",
  "token.created token.revoked role_mapping.set role_mapping.deleted",
  "directory_group.set directory_group.deleted data.exported records.dropped",
);

export type AuditAction = (typeof AUDITED)[number];

/** An object as the API shows it; credentials only by their last four characters. */
export type AuditedState = Readonly<Record<string, unknown>>;

/** Who changed what, when and from where. Rows are only added, and deleted when they are 400 days old. */
export const auditEntries = orgTable("audit_entries", {
  /** uuidv7: in order of time. */
  id: uuid("id").notNull(),
  at: instant("at").notNull(),
  /** A person's e-mail, a token's name, `admin key`, or, for automatic changes, `first start` or `environment`. */
  actor: label("actor").notNull(),
  /** IP address of the caller; null for automatic changes. */
  address: label("address"),
  /** The `x-request-id` of the answer; null for automatic changes. */
  requestId: uuid("request_id"),
  action: label("action").$type<AuditAction>().notNull(),
  /** A request's id, or the name or id of what was changed. */
  subject: label("subject").notNull(),
  /** Null: it did not exist. */
  before: jsonb("before").$type<AuditedState>(),
  /** Null: it no longer exists. */
  after: jsonb("after").$type<AuditedState>(),
}).keyedBy(["id"]);
