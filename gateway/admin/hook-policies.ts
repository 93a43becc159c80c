import { HookPolicyBody, HookPolicyPatch, HookPolicyView } from "#shared/admin/hook-policies.ts";
import { camelCased } from "#shared/case.ts";
import { viewAs } from "#shared/view-as.ts";
import { patchedRow } from "../stores/rows.ts";
import { hookPolicyRows, newHookPolicy } from "../stores/tools/hook-policies.ts";
import type { AdminDeps } from "./deps.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/hook-policies`: tools that agents with managed hooks must not call. */
export const adminHookPolicies = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "hook-policies",
    tag: "hook policies",
    nouns: { one: "a hook policy", many: "hook policies" },
    words: {
      create: {
        description:
          "Agents with managed hooks ask before they call a tool. A call is denied if `client`, `tool` and `server` all match. The first match by name gives the reason.",
      },
    },
    schemas: {
      body: HookPolicyBody,
      patch: HookPolicyPatch,
      view: HookPolicyView,
    },
    store: hookPolicyRows,
    audit: { set: "hook_policy.set", deleted: "hook_policy.deleted" },
    made: ({ name, body, now }) => newHookPolicy(name, body, now),
    patched: ({ current, body, now }) => patchedRow(current, camelCased(body), now),
    view: (row) => viewAs(HookPolicyView, row),
  });
