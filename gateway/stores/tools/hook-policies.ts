import { and, asc, eq } from "drizzle-orm";
import { hookPolicies } from "#drizzle/schema/tools.ts";
import type { HookPolicyPatch } from "#shared/admin/hook-policies.ts";
import { camelCased } from "#shared/case.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { HookPolicy } from "../../directory.ts";
import type { Reader } from "../change.ts";
import { namedRows } from "../named-rows.ts";

export type HookPolicyRow = typeof hookPolicies.$inferSelect;

export const hookPolicyRows = namedRows(hookPolicies);

/** Those that are switched on, in the order in which they are tried. */
export const loadHookPolicies = (reader: Reader): Promise<HookPolicy[]> =>
  reader
    .select({
      name: hookPolicies.name,
      client: hookPolicies.client,
      tool: hookPolicies.tool,
      server: hookPolicies.server,
      reason: hookPolicies.reason,
    })
    .from(hookPolicies)
    .where(and(eq(hookPolicies.orgId, DEFAULT_ORG), eq(hookPolicies.enabled, true)))
    .orderBy(asc(hookPolicies.name));

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
