import type { HookPolicyView } from "#shared/admin/hook-policies.ts";
import { switchColumn, textColumn } from "./cells.tsx";
import { HOOK_POLICY } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<HookPolicyView> = {
  path: "/admin/v1/hook-policies",
  title: "Hook policies",
  noun: "hook policy",
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("tool", "Denies", { of: ({ tool }) => tool }),
    textColumn("server", "Of", { of: ({ server }) => server, none: "every server, and the agent's own" }),
    textColumn("client", "For", { of: ({ client }) => client, none: "every agent" }),
    textColumn("reason", "Reason", { of: ({ reason }) => reason }),
    switchColumn(({ enabled }) => enabled),
  ],
  form: HOOK_POLICY,
  empty: "A policy denies a tool to agents with managed hooks, even for calls that bypass the gateway.",
  removal: { verb: "Delete", effect: "Agents may use the tool again." },
};

/** Tools that agents with managed hooks may not use. */
export const HookPoliciesPage = () => <ResourcePage facts={FACTS} />;
