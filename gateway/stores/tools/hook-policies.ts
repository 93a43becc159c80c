import { ours } from "#drizzle/ours.ts";
import { hookPolicies } from "#drizzle/schema/tools.ts";
import type { HookPolicyPatch } from "#shared/admin/hook-policies.ts";
import { camelCased } from "#shared/case.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { HookPolicy } from "../../directory.ts";
import type { Reader } from "../change.ts";
import { namedRows } from "../rows.ts";

export type HookPolicyRow = typeof hookPolicies.$inferSelect;

export const hookPolicyRows = namedRows(hookPolicies);

/** Those that are switched on, in the order in which they are tried. */
export function loadHookPolicies(reader: Reader): Promise<HookPolicy[]> {
  const { name, client, tool, server, reason } = hookPolicies;
  const policies = reader.select({ name, client, tool, server, reason }).from(hookPolicies);
  return policies.where(ours(hookPolicies, { enabled: true })).orderBy(name);
}

/** A new policy: absent members of the body get their defaults. */
export const newHookPolicy = (name: string, body: HookPolicyPatch, now: Date): HookPolicyRow => ({
  orgId: DEFAULT_ORG,
  enabled: true,
  client: null,
  tool: "*",
  server: null,
  action: "deny",
  reason: "A policy of your organisation does not allow this tool.",
  ...camelCased(body),
  name,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});
