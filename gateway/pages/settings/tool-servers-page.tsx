import type { McpServerView } from "#shared/admin/mcp-servers.ts";
import { switchColumn, textColumn } from "./cells.tsx";
import { TOOL_SERVER } from "./forms/call-forms.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";

const FACTS: ResourceFacts<McpServerView> = {
  path: "/admin/v1/mcp-servers",
  title: "Tool servers",
  noun: "tool server",
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("url", "Address", { of: ({ url }) => url }),
    textColumn("tools", "Offers", { of: ({ tools }) => (tools.allow ?? []).join(", "), none: "all tools" }),
    textColumn("denied", "Hides", { of: ({ tools }) => (tools.deny ?? []).join(", "), none: "none" }),
    textColumn("price", "Price of a call", {
      of: ({ price_per_call: usd }) => usd && `$${usd}`,
      none: "unknown",
    }),
    switchColumn(({ enabled }) => enabled),
  ],
  form: TOOL_SERVER,
  empty: "Agents reach the tools of these servers at /mcp with their client key.",
  removal: { verb: "Delete", effect: "Agents no longer see its tools. Records keep its name." },
};

/** Servers whose tools agents use through the gateway. */
export const ToolServersPage = () => <ResourcePage facts={FACTS} />;
