import type { McpServerView } from "#shared/admin/mcp-servers.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    kind: "text",
    required: true,
    createOnly: true,
    help: "1 to 24 of a-z, 0-9 and -.",
  },
  {
    name: "url",
    label: "Address",
    kind: "text",
    required: true,
    placeholder: "https://tools.example.com/mcp",
    help: "Streamable HTTP.",
  },
  {
    name: "credential",
    label: "Credential",
    kind: "secret",
    help: "Stored encrypted, never shown again. Leave it empty to keep the present one.",
  },
  {
    name: "credential_header",
    label: "Header of the credential",
    kind: "text",
    nullable: true,
    help: "Empty: Authorization: Bearer.",
  },
  { name: "tools.allow", label: "Tools to offer", kind: "lines", help: "Globs, one a line. Empty: all." },
  { name: "tools.deny", label: "Tools to hide", kind: "lines" },
  { name: "price_per_call", label: "Price of a call, USD", kind: "decimal", nullable: true },
  { name: "prices", label: "Prices by tool", kind: "pairs", placeholder: "search = 0.01" },
  {
    name: "allow_private_network",
    label: "Allow plain http, loopback and private addresses",
    kind: "switch",
  },
  { name: "enabled", label: "Enabled", kind: "switch", initial: true },
];

const FACTS: ResourceFacts<McpServerView> = {
  path: "/admin/v1/mcp-servers",
  title: "Tool servers",
  noun: "tool server",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
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
  fields: FIELDS,
  empty: "Agents reach the tools of these servers at /mcp with their client key.",
  removal: { verb: "Delete", effect: "Agents no longer see its tools. Records keep its name." },
};

/** Servers whose tools agents use through the gateway. */
export const ToolServersPage = () => (
  <>
    <PageHead title="Tool servers" />
    <ResourcePanel facts={FACTS} />
  </>
);
