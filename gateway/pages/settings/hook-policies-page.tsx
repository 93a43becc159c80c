import type { HookPolicyView } from "#shared/admin/hook-policies.ts";
import { onOff, text } from "../parts/columns.tsx";
import { HOOK_POLICY } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<HookPolicyView> = {
  path: "/admin/v1/hook-policies",
  title: "Hook policies",
  noun: "hook policy",
  columns: {
    name: text("Name", ({ name }) => name),
    tool: text("Denies", ({ tool }) => tool),
    server: text("Server", ({ server }) => server, "every server, and the agent's own"),
    client: text("Client", ({ client }) => client, "every agent"),
    reason: text("Reason", ({ reason }) => reason),
    enabled: onOff(({ enabled }) => enabled),
  },
  form: HOOK_POLICY,
  empty: "A policy denies a tool to agents with managed hooks, even for calls that bypass the gateway.",
  removal: { verb: "Delete", effect: "Agents may use the tool again." },
};

/** Tools that agents with managed hooks may not use. */
export const HookPoliciesPage = () => <ResourcePage facts={FACTS} />;
