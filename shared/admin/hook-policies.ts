import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, Removable } from "../schema.ts";
import { Dated, Name, SingleLine } from "./fields.ts";

const Glob = (description: string) => SingleLine(256, `${description} \`*\` matches any characters.`);

const members = {
  enabled: Type.Optional(Type.Boolean({ default: true })),
  client: Removable(Glob("Agents it applies to, such as `claude-code`. Null: all.")),
  tool: Type.Optional(
    Glob("The tool's own name, or the agent's name for it (`mcp__server__tool`). Default: every tool."),
  ),
  server: Removable(Glob("Only tools of this server. Null: of every server, and the agent's own.")),
  action: Type.Optional(oneOf(["deny"] as const)),
  reason: Type.Optional(SingleLine(1000, "Shown to the agent's model and to the person.")),
};

/** `POST /admin/v1/hook-policies`. */
export const HookPolicyBody = closed({ name: Name, ...members });
/** `PATCH /admin/v1/hook-policies/{name}`: absent members are kept. */
export const HookPolicyPatch = closed(members);
export type HookPolicyPatch = Static<typeof HookPolicyPatch>;

export const HookPolicyView = closed({
  name: Name,
  enabled: Type.Boolean(),
  client: nullable(Type.String()),
  tool: Type.String(),
  server: nullable(Type.String()),
  action: oneOf(["deny"] as const),
  reason: Type.String(),
  ...Dated,
});
export type HookPolicyView = Static<typeof HookPolicyView>;
