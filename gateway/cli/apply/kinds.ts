import { type TObject, Type } from "@sinclair/typebox";
import { AlertBody } from "#shared/admin/alerts.ts";
import { BudgetBody } from "#shared/admin/budgets.ts";
import { DiscountBody } from "#shared/admin/discounts.ts";
import { ExportDestinationBody } from "#shared/admin/exports.ts";
import { type NamedBody, putOf, readInstant } from "#shared/admin/fields.ts";
import { GuardrailBody } from "#shared/admin/guardrails.ts";
import { HookPolicyBody } from "#shared/admin/hook-policies.ts";
import { KeyPatch } from "#shared/admin/keys.ts";
import { McpServerBody } from "#shared/admin/mcp-servers.ts";
import { PersonPatch, storedEmail, storedOwner } from "#shared/admin/people.ts";
import { PriceBody } from "#shared/admin/prices.ts";
import { ProviderBody } from "#shared/admin/providers.ts";
import { SavedReportPut } from "#shared/admin/reports.ts";
import { RoleMappingPut } from "#shared/admin/role-mappings.ts";
import { RouteBody } from "#shared/admin/routes.ts";
import { CommitmentBody, SeatBody } from "#shared/admin/seats.ts";
import { TeamBody } from "#shared/admin/teams.ts";
import { VendorAccountBody } from "#shared/admin/vendor-bills.ts";
import { isRecord } from "#shared/json.ts";
import { keysOf } from "#shared/keys-of.ts";
import { Settings } from "#shared/settings.ts";

const STANDARD = "standard";

export type Members = Record<string, unknown>;

/** One kind of resource in a file, and its form in the admin API. */
export type ResourceKind = {
  /** Path below /admin/v1. */
  path: string;
  /** `named`: members by name; `listed`: a list whose items identify themselves; `single`: exactly one. */
  shape: "named" | "listed" | "single";
  form: TObject;
  /** Identifies an existing resource, and an item of a listed kind. */
  nameOf(it: Members): string;
  /** Last segment of its path. */
  addressOf(it: Members): string;
  /** Whether a new one is created by `PUT` at its name, or by `POST` with the name as a member. */
  create: "put" | "post";
  /** How an existing one is changed; absent: by `PATCH`. `put` sends what it has with what is declared on top. */
  change?: "put";
  /** The member that has its name; absent: `name`. */
  identifiedBy?: string;
  /** The name of a declared one as the gateway has it. */
  spelled?(name: string): string;
  /** Write-only members: read from the environment and sent every time. */
  secrets: readonly string[];
  /** The name of a resource of the same kind that must be applied before it. */
  refersTo?(it: Members): unknown;
  /** The body as completed by the gateway. */
  filled?(body: Members): Members;
};

const byName = {
  nameOf: (it: Members) => String(it["name"]),
  addressOf: (it: Members) => String(it["name"]),
};
const byId = (nameOf: ResourceKind["nameOf"]) => ({ nameOf, addressOf: (it: Members) => String(it["id"]) });

const named = (path: string, form: TObject, secrets: readonly string[] = []) =>
  ({ path, shape: "named", form, create: "put", secrets, ...byName }) as const satisfies ResourceKind;

const byItsName = (path: string, body: NamedBody, secrets: readonly string[] = []) =>
  named(path, putOf(body), secrets);

const listed = (path: string, form: TObject, nameOf: ResourceKind["nameOf"]) =>
  ({ path, shape: "listed", form, create: "post", secrets: [], ...byId(nameOf) }) satisfies ResourceKind;
const single = (path: string, form: TObject, secrets: readonly string[] = []) =>
  ({
    path,
    shape: "single",
    form,
    create: "put",
    secrets,
    nameOf: () => "",
    addressOf: () => "",
  }) as const satisfies ResourceKind;

/** In the order in which they are applied: a resource comes before those that refer to it. */
export const RESOURCE_KINDS = {
  providers: byItsName("/providers", ProviderBody, ["credential"]),
  guardrails: byItsName("/guardrails", GuardrailBody),
  routes: byItsName("/routes", RouteBody),
  "mcp-servers": byItsName("/mcp-servers", McpServerBody, ["credential"]),
  "hook-policies": byItsName("/hook-policies", HookPolicyBody),
  teams: {
    ...byItsName("/teams", TeamBody),
    filled: withPeriod,
    refersTo: (it) => it["parent"],
  },
  people: {
    ...named("/people", PersonPatch),
    create: "post",
    identifiedBy: "email",
    spelled: storedEmail,
    filled: withPeriod,
    ...byId((it) => String(it["email"])),
  },
  "role-mappings": {
    ...named("/role-mappings", RoleMappingPut),
    identifiedBy: "group",
    nameOf: (it) => String(it["group"]),
    addressOf: (it) => String(it["group"]),
  },
  keys: {
    ...named("/keys", KeyPatch),
    create: "post",
    filled: (body) => ({
      ...body,
      ...(typeof body["owner"] === "string" && { owner: storedOwner(body["owner"]) }),
      ...(isRecord(body["limits"]) && { limits: withPeriod(body["limits"]) }),
    }),
    ...byId((it) => String(it["name"])),
  },
  budgets: {
    ...byItsName("/budgets", BudgetBody),
    // The list has those of teams, people and keys, too, whose names may be the same.
    nameOf: ({ kind, name }) => (kind === "budget" ? String(name) : `${kind} ${name}`),
  },
  alerts: byItsName("/alerts", AlertBody),
  prices: listed("/prices", PriceBody, priceName),
  discounts: listed("/discounts", DiscountBody, discountName),
  seats: listed("/seats", SeatBody, seatName),
  commitments: listed(
    "/commitments",
    CommitmentBody,
    ({ name, effective_from: from }) => `${name} from ${startOf(from)}`,
  ),
  "vendor-accounts": byItsName("/vendor-accounts", VendorAccountBody, ["credential"]),
  "export-destination": {
    ...single("/export/destination", Type.Omit(ExportDestinationBody, ["from"]), ["secret_access_key"]),
    change: "put",
  },
  reports: { ...named("/reports", SavedReportPut), ...byId((it) => String(it["id"])) },
  settings: single("/settings", Type.Partial(Settings)),
} as const satisfies Record<string, ResourceKind>;

export type ResourceKindName = keyof typeof RESOURCE_KINDS;
export const RESOURCE_KIND_NAMES = keysOf(RESOURCE_KINDS);

/** Identified by model, provider (or any), tier and start. */
function priceName({ provider, model, tier = STANDARD, effective_from: from }: Members): string {
  const inTier = tier === STANDARD ? "" : ` (${tier})`;
  return `${provider ?? "*"}/${model}${inTier} from ${startOf(from)}`;
}

/** Identified by provider, models, tiers and start. */
function discountName({ provider, models, tiers, effective_from: from }: Members): string {
  const inTiers = Array.isArray(tiers) ? ` (${tiers.join(", ")})` : "";
  return `${provider}/${Array.isArray(models) ? models.join(",") : "*"}${inTiers} from ${startOf(from)}`;
}

/** Identified by person, vendor, plan and start. */
function seatName({ person, vendor, plan = "", effective_from: from }: Members): string {
  return `${vendor} ${plan} of ${String(person).toLowerCase()} from ${startOf(from)}`;
}

function startOf(from: unknown): string {
  const atMs = readInstant(String(from));
  const instant = atMs === null ? String(from) : new Date(atMs).toISOString();
  return instant.replace("T00:00:00.000Z", "");
}

/** A budget is monthly unless stated otherwise. */
function withPeriod(it: Members): Members {
  const budget = it["budget_usd"];
  return budget === undefined || budget === null
    ? it
    : { ...it, budget_period: it["budget_period"] ?? "month" };
}
