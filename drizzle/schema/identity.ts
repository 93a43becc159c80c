import { boolean, customType, index, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { DeviceProgram } from "#shared/admin/device-sign-ins.ts";
import type { Role } from "#shared/admin/people.ts";
import type { TokenScope } from "#shared/admin/tokens.ts";
import { bytes, changedColumns, exact, instant, json, label, labels, orgTable } from "./columns.ts";
import type { Unpriced } from "./keys.ts";

/** A point in time as the sign-in library reads and writes it. */
const moment = customType<{ data: Date; driverData: string }>({
  dataType: () => "timestamptz(3)",
  toDriver: (value) => value.toISOString(),
  fromDriver: (value) => new Date(value),
});

/** A session's token, compared in plain text and stored as hexadecimal SHA-256: no statement stores or returns it. */
const tokenDigest = customType<{ data: string; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
  toDriver: (token) => new Bun.CryptoHasher("sha256").update(token).digest("hex"),
});

const changed = { createdAt: moment("created_at").notNull(), updatedAt: moment("updated_at").notNull() };

/** Who may sign in. The e-mail is the same word as a key's owner, so that past records belong to the person. */
export const people = orgTable("people", {
  id: uuid("id").notNull(),
  /** In lower case. */
  email: label("email").notNull(),
  name: label("name").notNull(),
  /** The sign-in library requires both. Every sign-in method here verifies the address; pictures are not stored. */
  emailVerified: boolean("email_verified").notNull().default(true),
  image: label("image"),
  githubLogin: label("github_login"),
  role: label("role").$type<Role>().notNull().default("member"),
  team: label("team"),
  /** The role and team that return when no mapping gives one; an absent member is not mapped. */
  unmapped: json<{ role?: Role; team?: string | null }>("unmapped").notNull().default({}),
  disabled: boolean("disabled").notNull().default(false),
  /** Exact decimal, USD: budget of all the person's keys together per `budget_period`; null: unlimited. */
  budgetUsd: exact("budget_usd"),
  budgetPeriod: label("budget_period").$type<"day" | "month">(),
  /** Null: refuse, or there is no budget. */
  unpriced: label("unpriced").$type<Unpriced>(),
  ...changed,
}).keyedBy(["id"], (table) => [uniqueIndex("people_email").on(table.orgId, table.email)]);

/** Signed-in browsers. */
export const personSessions = orgTable("person_sessions", {
  id: uuid("id").notNull(),
  personId: uuid("person_id").notNull(),
  token: tokenDigest("token_sha256").notNull(),
  /** The person's role when the token was made; another one makes another token. */
  role: label("role").$type<Role>().notNull(),
  /** The token before this one, which requests under way may still carry for moments, and its role. */
  previousToken: tokenDigest("previous_token_sha256"),
  previousRole: label("previous_role").$type<Role>(),
  rotatedAt: moment("rotated_at"),
  /** The sign-in method; null: unknown. */
  way: label("way"),
  /** The earlier of the idle timeout and the absolute end. */
  expiresAt: moment("expires_at").notNull(),
  ipAddress: label("ip_address"),
  userAgent: label("user_agent"),
  ...changed,
}).keyedBy(["id"], (table) => [
  uniqueIndex("person_sessions_token").on(table.orgId, table.token),
  index("person_sessions_previous").on(table.orgId, table.previousToken),
  index("person_sessions_person").on(table.orgId, table.personId),
]);

/** Accounts elsewhere that sign a person in. */
export const signInAccounts = orgTable("sign_in_accounts", {
  id: uuid("id").notNull(),
  personId: uuid("person_id").notNull(),
  providerId: label("provider_id").notNull(),
  /**
   * OIDC issuer, SAML entity id or GitHub host. Empty: not known, so no one signs in with it. Null: stored by an earlier
   * version; the next start fills it in.
   */
  issuer: label("issuer"),
  accountId: label("account_id").notNull(),
  /** The mapped groups that its last sign-in named. */
  groups: labels("groups").notNull().default([]),
  accessToken: label("access_token"),
  refreshToken: label("refresh_token"),
  idToken: label("id_token"),
  accessTokenExpiresAt: moment("access_token_expires_at"),
  refreshTokenExpiresAt: moment("refresh_token_expires_at"),
  scope: label("scope"),
  /** The sign-in library requires it; there are no passwords. */
  password: label("password"),
  ...changed,
}).keyedBy(["id"], (table) => [
  uniqueIndex("sign_in_accounts_account").on(table.orgId, table.providerId, table.issuer, table.accountId),
  index("sign_in_accounts_person").on(table.orgId, table.personId),
]);

/** State of sign-ins that have begun: digests of one-time links, and states of sign-ins elsewhere. */
export const signInVerifications = orgTable("sign_in_verifications", {
  id: uuid("id").notNull(),
  identifier: label("identifier").notNull(),
  value: label("value").notNull(),
  expiresAt: moment("expires_at").notNull(),
  ...changed,
}).keyedBy(["id"], (table) => [index("sign_in_verifications_identifier").on(table.orgId, table.identifier)]);

/** Credentials of automation, each with a name of its own. */
export const adminTokens = orgTable("admin_tokens", {
  id: uuid("id").notNull(),
  name: label("name").notNull(),
  /** Null: `scopes` say what it opens. */
  role: label("role").$type<Role>(),
  scopes: labels("scopes").$type<TokenScope[]>(),
  /** Limits the token to this team and those below it; without one, it reads no e-mails. */
  team: label("team"),
  /** The only repository whose pull requests it reads, in lower case. */
  repository: label("repository"),
  /** E-mail of the administrator with whom it ends, or `admin key`; null: made by an earlier version. */
  maker: label("maker"),
  sha256: bytes("sha256").notNull(),
  lastFour: label("last_four").notNull(),
  expiresAt: instant("expires_at").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [
  uniqueIndex("admin_tokens_name").on(table.orgId, table.name),
  uniqueIndex("admin_tokens_sha256").on(table.orgId, table.sha256),
]);

/** The role and team of people who sign in elsewhere as members of a group. */
export const roleMappings = orgTable("role_mappings", {
  group: label("group").notNull(),
  role: label("role").$type<Role>().notNull(),
  team: label("team"),
  ...changedColumns,
}).keyedBy(["group"]);

/** Groups of a directory (SCIM); mappings of their names give roles and teams to their members. Kept until it deletes them. */
export const scimGroups = orgTable("scim_groups", {
  id: uuid("id").notNull(),
  name: label("name").notNull(),
  externalId: label("external_id"),
  ...changed,
}).keyedBy(["id"], (table) => [uniqueIndex("scim_groups_name").on(table.orgId, table.name)]);

export const scimGroupMembers = orgTable("scim_group_members", {
  groupId: uuid("group_id").notNull(),
  personId: uuid("person_id").notNull(),
}).keyedBy(["groupId", "personId"], (table) => [
  index("scim_group_members_person").on(table.orgId, table.personId),
]);

export const DEVICE_STATES = ["pending", "approved", "denied"] as const;

/** Devices that ask to be signed in (RFC 8628), until they have their key or their ten minutes are over. */
export const deviceSignIns = orgTable("device_sign_ins", {
  id: uuid("id").notNull(),
  /** The device polls with it. */
  deviceCode: bytes("device_code_sha256").notNull(),
  /** The person types or compares it. */
  userCode: bytes("user_code_sha256").notNull(),
  /** The program there, such as `claude_code`; null: unknown. */
  program: label("program").$type<DeviceProgram>(),
  /** The computer's name, as the device reports it; null: not reported. */
  deviceName: label("device_name"),
  /** IP address that asked. */
  address: label("address"),
  state: label("state").$type<(typeof DEVICE_STATES)[number]>().notNull().default("pending"),
  /** The person who decided; null while it is pending. */
  personId: uuid("person_id"),
  /** The last poll that was not too soon. */
  polledAt: instant("polled_at"),
  expiresAt: instant("expires_at").notNull(),
  createdAt: instant("created_at").notNull(),
}).keyedBy(["id"], (table) => [
  uniqueIndex("device_sign_ins_device_code").on(table.orgId, table.deviceCode),
  uniqueIndex("device_sign_ins_user_code").on(table.orgId, table.userCode),
  index("device_sign_ins_expires").on(table.orgId, table.expiresAt),
]);
