import type { HookPolicyView } from "#shared/admin/hook-policies.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const FACTS: ResourceFacts<HookPolicyView> = {
  path: "/admin/v1/hook-policies",
  title: "Hook policies",
  noun: "hook policy",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("tool", "Denies", { of: ({ tool }) => tool }),
    textColumn("server", "Of", { of: ({ server }) => server, none: "every server, and the agent's own" }),
    textColumn("client", "For", { of: ({ client }) => client, none: "every agent" }),
    textColumn("reason", "Reason", { of: ({ reason }) => reason }),
    switchColumn(({ enabled }) => enabled),
  ],
  fields: [
    { name: "name", label: "Name", kind: "text", required: true, createOnly: true },
    { name: "tool", label: "Tool", kind: "text", placeholder: "Bash", help: "A glob. Empty: every tool." },
    {
      name: "server",
      label: "Server",
      kind: "text",
      nullable: true,
      help: "A glob. Empty: every server, and the agent's own tools.",
    },
    { name: "client", label: "Agent", kind: "text", nullable: true, placeholder: "claude-code" },
    { name: "reason", label: "Reason", kind: "text", help: "Shown to the agent's model and to the person." },
    { name: "enabled", label: "Enabled", kind: "switch", initial: true },
  ],
  empty: "A policy denies a tool to agents with managed hooks, also where the call passes no gateway.",
  removal: { verb: "Delete", effect: "Agents may use the tool again." },
};

/** Tools that agents with managed hooks may not use. */
export const HookPoliciesPage = () => (
  <>
    <PageHead title="Hook policies" />
    <ResourcePanel facts={FACTS} />
  </>
);
