import { boolean, integer } from "drizzle-orm/pg-core";
import type { ROUTE_SURFACES } from "#shared/admin/routes.ts";
import { changedColumns, instant, json, label, orgTable } from "./columns.ts";

export type RouteSurface = (typeof ROUTE_SURFACES)[number];

export const providers = orgTable("providers", {
  name: label("name").notNull(),
  /** A row of the provider catalogue. */
  kind: label("kind").notNull(),
  baseUrl: label("base_url"),
  /** AES-256-GCM, sealed with the master key and bound to this provider's name. */
  credential: label("credential"),
  /** Further ones, sealed likewise, which share its calls. */
  moreCredentials: json<string[]>("more_credentials").notNull().default([]),
  /** Where its models run; null: as its address says. */
  location: label("location"),
  headers: json<Record<string, string>>("headers").notNull(),
  /** Globs of the models it serves. */
  models: json<string[]>("models"),
  responses: boolean("responses").notNull().default(true),
  trustedForPassthrough: boolean("trusted_for_passthrough").notNull().default(false),
  /** Whether callers' own subscriptions may pay for its calls: for all models, or for models that match a glob. */
  subscriptionPassthrough: boolean("subscription_passthrough").notNull().default(false),
  subscriptionModels: json<string[]>("subscription_models").notNull().default([]),
  allowPrivateNetwork: boolean("allow_private_network").notNull().default(false),
  /** Surfaces without routes whose calls go to it unless their model says otherwise. */
  defaultFor: json<string[]>("default_for").notNull().default([]),
  /** Whether it accepts `stream_options`; null: as its kind does. */
  streamOptions: boolean("stream_options"),
  firstByteSeconds: integer("first_byte_timeout_seconds"),
  idleSeconds: integer("idle_timeout_seconds"),
  /** Maximum calls in flight from one gateway; null: the gateway's own setting. */
  inFlightMax: integer("in_flight_max"),
  /** Addresses of the vendor's that callers may use through the gateway; null: none. */
  passThrough: json<{ paths: string[] }>("pass_through"),
  enabled: boolean("enabled").notNull().default(true),
  ...changedColumns,
}).keyedBy(["name"]);

export const routes = orgTable("routes", {
  name: label("name").notNull(),
  surface: label("surface").$type<RouteSurface>().notNull(),
  provider: label("provider").notNull(),
  model: label("model").notNull(),
  /** Its share of the calls, relative to the fallbacks that have a weight. */
  weight: integer("weight"),
  fallbacks: json<{ provider: string; model: string; weight?: number }[]>("fallbacks").notNull(),
  /** Instead of the provider's. */
  firstByteSeconds: integer("first_byte_seconds"),
  idleSeconds: integer("idle_seconds"),
  description: label("description").notNull().default(""),
  examples: json<string[]>("examples").notNull(),
  keywords: json<string[]>("keywords").notNull(),
  guardrails: json<string[]>("guardrails").notNull(),
  bodyCapture: boolean("body_capture").notNull().default(false),
  subscriptionPassthrough: boolean("subscription_passthrough").notNull().default(false),
  usageChunk: label("usage_chunk").$type<"withhold" | "pass">().notNull().default("withhold"),
  onClientGone: label("on_client_gone").$type<"drain" | "cancel">().notNull().default("drain"),
  refuseWith: label("refuse_with").$type<"block" | "soft_deny">().notNull().default("block"),
  inexpressible: label("inexpressible").$type<"refuse" | "drop">().notNull().default("refuse"),
  enabled: boolean("enabled").notNull().default(true),
  ...changedColumns,
}).keyedBy(["name"]);

/** The organisation's settings; `value` is a `Settings` (shared/settings.ts). */
export const settings = orgTable("settings", {
  value: json<Record<string, unknown>>("value").notNull(),
  updatedAt: instant("updated_at").notNull(),
}).keyedBy([]);

/** Counts administrators' changes, so that one cheap read tells a replica to reload. */
export const directoryVersions = orgTable("directory_versions", {
  version: integer("version").notNull(),
}).keyedBy([]);
