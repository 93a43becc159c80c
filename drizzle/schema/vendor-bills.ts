import { boolean, date, integer, uuid } from "drizzle-orm/pg-core";
import { changedColumns, exact, instant, json, label, labels, leaseColumns, orgTable } from "./columns.ts";

/** Accounts with vendors, whose bills are compared with what was metered. */
export const vendorAccounts = orgTable("vendor_accounts", {
  name: label("name").notNull(),
  vendor: label("vendor").notNull(),
  /** AES-256-GCM, sealed with the master key and bound to this account's name. Null: nothing is fetched. */
  credential: label("credential"),
  /** Null: the vendor's own address. */
  baseUrl: label("base_url"),
  allowPrivateNetwork: boolean("allow_private_network").notNull(),
  /** Names of the gateway's providers that it pays for; null: all of the vendor's kinds. */
  providers: labels("providers"),
  /** Names or ids of the vendor's keys that the gateway uses; null: all. */
  keys: labels("keys"),
  /** Models by what the vendor calls them. */
  models: json<Record<string, string>>("models").notNull(),
  /** Whose days the bill has. */
  timeZone: label("time_zone").notNull(),
  /** Exact USD for one unit of a currency. */
  rates: json<Record<string, string>>("rates").notNull(),
  enabled: boolean("enabled").notNull(),
  /** Last successful fetch. */
  fetchedAt: instant("fetched_at"),
  ...leaseColumns,
  ...changedColumns,
}).keyedBy(["name"]);

/** Days whose bill is known, even if nothing was billed. */
export const vendorBillDays = orgTable("vendor_bill_days", {
  account: label("account").notNull(),
  day: date("day").notNull(),
  /** Where the latest version of it is from. */
  source: label("source").$type<"api" | "file">().notNull(),
  readAt: instant("read_at").notNull(),
}).keyedBy(["account", "day"]);

/** Lines of vendors' bills, as billed. A newer bill of a day replaces all of its lines. */
export const vendorBillLines = orgTable("vendor_bill_lines", {
  account: label("account").notNull(),
  day: date("day").notNull(),
  line: integer("line").notNull(),
  category: label("category").$type<BillCategory>().notNull(),
  /** What is billed, in the vendor's words. */
  item: label("item").notNull(),
  model: label("model"),
  /** Unit of the price (gateway/pricing/rate.ts), or one of the units that are not metered; null: all in one. */
  kind: label("kind"),
  /** Null: all in one. */
  tier: label("tier"),
  /** The vendor's id or name of the key; null: the bill does not say. */
  key: label("key"),
  quantity: exact("quantity"),
  /** Null: used, but not in this bill. */
  amount: exact("amount"),
  currency: label("currency").notNull(),
  /** Exact USD for one unit of `currency` on that day; null: unknown. */
  rate: exact("rate"),
}).keyedBy(["account", "day", "line"]);

export const BILL_CATEGORIES = ["usage", "tax", "credit", "other"] as const;
export type BillCategory = (typeof BILL_CATEGORIES)[number];

/** Subscriptions of people, such as Claude Team, which are paid by the month whatever they are used for. */
export const seats = orgTable("seats", {
  id: uuid("id").notNull(),
  /** E-mail, in lower case. */
  person: label("person").notNull(),
  vendor: label("vendor").notNull(),
  plan: label("plan").notNull(),
  monthlyUsd: exact("monthly_usd").notNull(),
  effectiveFrom: instant("effective_from").notNull(),
  /** Not included; null is no end. */
  effectiveTo: instant("effective_to"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"]);

/** What is paid for use beforehand: commitments and provisioned throughput, and prepaid credits. */
export const commitments = orgTable("commitments", {
  id: uuid("id").notNull(),
  name: label("name").notNull(),
  kind: label("kind").$type<"commitment" | "credit">().notNull(),
  /** Provider's name. */
  provider: label("provider").notNull(),
  /** Globs; null is all. */
  models: labels("models"),
  /** What is paid. */
  amountUsd: exact("amount_usd").notNull(),
  /** Use that it covers, at its cost; null: all of its time. */
  worthUsd: exact("worth_usd"),
  effectiveFrom: instant("effective_from").notNull(),
  effectiveTo: instant("effective_to").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"]);
