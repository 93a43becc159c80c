import type { McpServerView } from "#shared/admin/mcp-servers.ts";
import { onOff, text } from "../parts/columns.tsx";
import { TOOL_SERVER } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<McpServerView> = {
  path: "/admin/v1/mcp-servers",
  title: "Tool servers",
  noun: "tool server",
  columns: {
    name: text("Name", ({ name }) => name),
    url: text("Address", ({ url }) => url),
    tools: text("Offers", ({ tools }) => (tools.allow ?? []).join(", "), "all tools"),
    denied: text("Hides", ({ tools }) => (tools.deny ?? []).join(", "), "none"),
    price: text("Price of a call", ({ price_per_call: usd }) => usd && `$${usd}`, "unknown"),
    enabled: onOff(({ enabled }) => enabled),
  },
  form: TOOL_SERVER,
  empty: "Agents reach the tools of these servers at /mcp with their client key.",
  removal: { verb: "Delete", effect: "Agents no longer see its tools. Records keep its name." },
};

/** Servers whose tools agents use through the gateway. */
export const ToolServersPage = () => <ResourcePage facts={FACTS} />;
