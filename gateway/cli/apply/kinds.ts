import { type TSchema, Type } from "@sinclair/typebox";
import { readInstant } from "#shared/admin/fields.ts";
import { GuardrailPut } from "#shared/admin/guardrails.ts";
import { HookPolicyPut } from "#shared/admin/hook-policies.ts";
import { KeyPatch } from "#shared/admin/keys.ts";
import { McpServerPut } from "#shared/admin/mcp-servers.ts";
import { PriceBody } from "#shared/admin/prices.ts";
import { ProviderPut } from "#shared/admin/providers.ts";
import { SavedReportPut } from "#shared/admin/reports.ts";
import { RoutePut } from "#shared/admin/routes.ts";
import { isRecord } from "#shared/json.ts";
import { Settings } from "#shared/settings.ts";

export type Members = Record<string, unknown>;

/** One kind of thing that a file declares, and how the admin API has it. */
export type ResourceKind = {
  /** Below /admin/v1. */
  path: string;
  /** `named`: members by name; `listed`: a list whose items tell who they are; `single`: one for all. */
  shape: "named" | "listed" | "single";
  /** What the file says of one. */
  form: TSchema;
  /** Who a thing of the gateway's is, and an item of a listed kind. */
  nameOf(it: Members): string;
  /** The last part of its address. */
  addressOf(it: Members): string;
  /** Whether a new one is `PUT` at its name, or `POST`ed with the name as a member. */
  create: "put" | "post";
  /** Members that the gateway never shows again: they come from the environment, and are sent every time. */
  secrets: readonly string[];
  /** What the gateway adds to what it is told. */
  filled?(body: Members): Members;
};

const byName = {
  nameOf: (it: Members) => String(it["name"]),
  addressOf: (it: Members) => String(it["name"]),
};
const byId = (nameOf: ResourceKind["nameOf"]) => ({ nameOf, addressOf: (it: Members) => String(it["id"]) });

const named = (path: string, form: TSchema, secrets: readonly string[] = []) =>
  ({ path, shape: "named", form, create: "put", secrets, ...byName }) as const satisfies ResourceKind;

/** In the order in which they are applied: what others name comes before them. */
export const RESOURCE_KINDS = {
  providers: named("/providers", ProviderPut, ["credential"]),
  guardrails: named("/guardrails", GuardrailPut),
  routes: named("/routes", RoutePut),
  "mcp-servers": named("/mcp-servers", McpServerPut, ["credential"]),
  "hook-policies": named("/hook-policies", HookPolicyPut),
  keys: {
    path: "/keys",
    shape: "named",
    form: KeyPatch,
    create: "post",
    secrets: [],
    filled: (body) => ({
      ...body,
      ...(isRecord(body["limits"]) && { limits: filledLimits(body["limits"]) }),
    }),
    ...byId((it) => String(it["name"])),
  },
  prices: {
    path: "/prices",
    shape: "listed",
    form: PriceBody,
    create: "post",
    secrets: [],
    ...byId(priceName),
  },
  reports: {
    path: "/reports",
    shape: "named",
    form: SavedReportPut,
    create: "put",
    secrets: [],
    ...byId((it) => String(it["id"])),
  },
  settings: {
    path: "/settings",
    shape: "single",
    form: Type.Partial(Settings),
    create: "put",
    secrets: [],
    nameOf: () => "",
    addressOf: () => "",
  },
} as const satisfies Record<string, ResourceKind>;

export type ResourceKindName = keyof typeof RESOURCE_KINDS;
// The keys of the table and nothing else.
export const RESOURCE_KIND_NAMES = Object.keys(RESOURCE_KINDS) as ResourceKindName[];

/** A price is the one of its model, at its provider or at any, from its instant on. */
function priceName({ provider, model, effective_from: from }: Members): string {
  const atMs = readInstant(String(from));
  const instant = atMs === null ? String(from) : new Date(atMs).toISOString();
  return `${provider ?? "*"}/${model} from ${instant.replace("T00:00:00.000Z", "")}`;
}

/** A budget is by month where nothing else is said. */
const filledLimits = (limits: Members): Members => ({
  ...limits,
  ...(limits["budget_usd"] !== undefined && { budget_period: limits["budget_period"] ?? "month" }),
});
