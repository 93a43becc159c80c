import { boolean, uuid } from "drizzle-orm/pg-core";
import type { AlertKind, Receiver } from "#shared/admin/alerts.ts";
import { changedColumns, instant, json, label, labels, leaseColumns, orgTable } from "./columns.ts";

/** What is reported, and to whom. */
export const alerts = orgTable("alerts", {
  name: label("name").notNull(),
  on: labels("on").$type<AlertKind[]>().notNull(),
  to: json<Receiver>("to").notNull(),
  /** Its address and its secret. */
  sealed: label("sealed").notNull(),
  enabled: boolean("enabled").notNull(),
  lastSentAt: instant("last_sent_at"),
  /** Class of the last failure since; never its message. */
  failure: label("failure"),
  ...changedColumns,
}).keyedBy(["name"]);

/** What an alert shows. No text of calls, and no one's e-mail. */
export type AlertContent = {
  kind: AlertKind | "test";
  title: string;
  text: string;
  facts: Readonly<Record<string, string | number | null>>;
};

/** What an alert has reported, or has yet to report: each state once, until it has been over for some time. */
export const alertStates = orgTable("alert_states", {
  alert: label("alert").notNull(),
  state: label("state").notNull(),
  /** Sent with every attempt, so that a receiver can recognise a repetition. */
  deliveryId: uuid("delivery_id").notNull(),
  content: json<AlertContent>("content").notNull(),
  raisedAt: instant("raised_at").notNull(),
  /** When it was last found. */
  seenAt: instant("seen_at").notNull(),
  /** Null: not yet. */
  sentAt: instant("sent_at"),
  ...leaseColumns,
}).keyedBy(["alert", "state"]);
