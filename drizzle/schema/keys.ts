import { boolean, index, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import { bytes, instant, json, label, orgTable } from "./columns.ts";

/** What a key may use. An absent list does not limit, but one of providers, which opens them; a call must satisfy all lists. */
export type KeyScopes = {
  routes?: string[];
  models?: string[];
  mcp?: string[];
  providers?: string[];
  reports?: boolean;
};

export type KeyLimits = {
  requests_per_minute?: number;
  tokens_per_minute?: number;
  concurrency?: number;
  /** Exact decimal, USD. */
  budget_usd?: string;
  budget_period?: "day" | "month";
  /** How a gateway treats calls once its lease is used up while Postgres is away: count locally (default) or refuse. */
  when_away?: "local" | "refuse";
  /** Whether the budget admits calls of models without a price. Absent: refuse. */
  unpriced?: Unpriced;
};

/** What a budget does with calls of models without a price, whose cost it cannot bound. */
export type Unpriced = "refuse" | "allow";

export const keys = orgTable("keys", {
  id: uuid("id").notNull(),
  name: label("name").notNull(),
  /** The person the key belongs to; null is a service account. */
  owner: label("owner"),
  /** Of a program: it is no sign-in of its owner. */
  service: boolean("service").notNull().default(false),
  /** The team that its calls count for; null: its owner's. */
  team: label("team"),
  scopes: json<KeyScopes>("scopes").notNull(),
  limits: json<KeyLimits>("limits"),
  /** Its owner made it. Its limits come from the template, and all such keys of a person share them. */
  own: boolean("own").notNull().default(false),
  /** The program that got the key by signing its owner in; null: it was made otherwise. */
  program: label("program").$type<DeviceProgram>(),
  expiresAt: instant("expires_at"),
  revokedAt: instant("revoked_at"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [uniqueIndex("keys_name").on(table.orgId, table.name)]);

/** A key's secrets: one, or two while a rotation's grace lasts. Only the digest is kept, never the secret. */
export const keySecrets = orgTable("key_secrets", {
  id: uuid("id").notNull(),
  keyId: uuid("key_id").notNull(),
  sha256: bytes("sha256").notNull(),
  lastFour: label("last_four").notNull(),
  /** End of the rotation's grace; null while current. */
  expiresAt: instant("expires_at"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [
  uniqueIndex("key_secrets_sha256").on(table.orgId, table.sha256),
  index("key_secrets_key").on(table.orgId, table.keyId),
]);

/** Tokens with which Claude Code renews its bearer. A replaced one is kept, so that its late use is detected. */
export const refreshTokens = orgTable("refresh_tokens", {
  id: uuid("id").notNull(),
  keyId: uuid("key_id").notNull(),
  sha256: bytes("sha256").notNull(),
  /** The end that the key got when issued; if the key has another one, an administrator set it. */
  keyExpiresAt: instant("key_expires_at").notNull(),
  /** Its first use; null: not yet. */
  usedAt: instant("used_at"),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [
  uniqueIndex("refresh_tokens_sha256").on(table.orgId, table.sha256),
  index("refresh_tokens_key").on(table.orgId, table.keyId),
]);
