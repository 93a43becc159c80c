import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";
import { Dated, SingleLine } from "./fields.ts";
import { RoleField, TeamField } from "./people.ts";

/** A group as the identity provider names it. */
export const Group = SingleLine(256, "A group as the identity provider names it.");

const members = { role: RoleField, team: Type.Optional(TeamField) };
/** `POST /admin/v1/role-mappings`. */
export const RoleMappingBody = closed({ group: Group, ...members });
/** `PUT /admin/v1/role-mappings/{group}`: a `group` must be the address's. */
export const RoleMappingPut = closed({ group: Type.Optional(Group), ...members });
/** `PATCH /admin/v1/role-mappings/{group}`: absent members are kept. */
export const RoleMappingPatch = Type.Partial(closed(members));

export const RoleMappingView = closed({
  group: Type.String(),
  role: RoleField,
  team: nullable(Type.String()),
  ...Dated,
});
export type RoleMappingView = Static<typeof RoleMappingView>;
