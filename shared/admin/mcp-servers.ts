import { type Static, Type } from "@sinclair/typebox";
import { checked, closed, Flag, matching, nullable, Removable, Switch, Text } from "../schema.ts";
import { Credential, Dated, SingleLine, Usd } from "./fields.ts";

/** Name of a tool server: no underscore, because `server__tool` is split at the first two. */
const SERVER_NAME = "[a-z0-9][a-z0-9-]{0,23}";
const ToolServerName = matching(
  `^${SERVER_NAME}$`,
  "1 to 24 of a-z, 0-9 and -, beginning with a letter or a digit",
  { description: "1 to 24 of a-z, 0-9 and -." },
);

const globs = (description: string) =>
  Type.Optional(Type.Array(SingleLine(128), { maxItems: 1000, uniqueItems: true, description }));

const Tools = closed({
  allow: globs("Globs of the tools to offer, by their own names. Absent: all."),
  deny: globs("Globs of the tools to hide, even where `allow` names them."),
});

/** `POST /admin/v1/keys` and `tools` here use the names that servers give their tools. */
const TOOL_NAME = "[^\\u0000-\\u001f\\u007f-\\u009f]{1,128}";

const SCOPE_ENTRY = new RegExp(`^${SERVER_NAME}(__${TOOL_NAME})?$`);

/** Names that a key's `mcp` scope may contain. Any other name would silently allow nothing. */
export const ToolScope = checked<string>(
  { type: "string", pattern: SCOPE_ENTRY.source },
  "the name of a tool server (1 to 24 of a-z, 0-9 and -), or one of its tools as server__tool",
  (value) => typeof value === "string" && SCOPE_ENTRY.test(value),
);

const url = SingleLine(2048, "Its address for streamable HTTP.");

const members = {
  credential: Removable(Credential("Stored encrypted and never shown again; absent keeps the present one.")),
  credential_header: Removable(
    matching("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$", "the name of a header", {
      description: "Carries the credential unchanged. Null: `Authorization: Bearer`.",
    }),
  ),
  tools: Type.Optional(Tools),
  price_per_call: Removable(Usd("Of any tool without a price of its own.")),
  prices: Type.Optional(
    Type.Record(Type.String({ pattern: `^${TOOL_NAME}$` }), Usd("USD for a call."), {
      maxProperties: 1000,
      additionalProperties: false,
      description: "By the tool's own name.",
    }),
  ),
  allow_private_network: Switch(false, "Whether `url` may be plain http, loopback or private."),
  enabled: Type.Optional(Type.Boolean({ default: true })),
};

/** `POST /admin/v1/mcp-servers`. */
export const McpServerBody = closed({ name: ToolServerName, url, ...members });
export type McpServerPut = Omit<Static<typeof McpServerBody>, "name">;
/** `PATCH /admin/v1/mcp-servers/{name}`: absent members are kept; `tools` and `prices` are replaced completely. */
export const McpServerPatch = closed({ url: Type.Optional(url), ...members });
export type McpServerPatch = Static<typeof McpServerPatch>;

const Money = Text("Exact decimal, USD.");
export const McpServerView = closed({
  name: ToolServerName,
  url: Type.String(),
  has_credential: Flag("The credential itself is never shown."),
  credential_header: nullable(Type.String()),
  tools: Tools,
  price_per_call: nullable(Money),
  prices: Type.Record(Type.String(), Money),
  allow_private_network: Type.Boolean(),
  enabled: Type.Boolean(),
  ...Dated,
});
export type McpServerView = Static<typeof McpServerView>;
