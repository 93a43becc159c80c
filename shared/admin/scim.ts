import { type Static, Type } from "@sinclair/typebox";
import { open, Removable, Text } from "../schema.ts";
import { SingleLine } from "./fields.ts";
import { Group } from "./role-mappings.ts";

const SCHEMA = "urn:ietf:params:scim";
export const SCIM_SCHEMAS = {
  user: `${SCHEMA}:schemas:core:2.0:User`,
  group: `${SCHEMA}:schemas:core:2.0:Group`,
  config: `${SCHEMA}:schemas:core:2.0:ServiceProviderConfig`,
  list: `${SCHEMA}:api:messages:2.0:ListResponse`,
  patch: `${SCHEMA}:api:messages:2.0:PatchOp`,
  error: `${SCHEMA}:api:messages:2.0:Error`,
} as const;

/** `POST` and `PUT` of `/scim/v2/Users`; members that a person does not have are accepted and not stored. */
export const ScimUserBody = open({
  userName: Text("The person's e-mail address."),
  displayName: Type.Optional(Type.Unknown()),
  name: Type.Optional(Type.Unknown()),
  active: Type.Optional(Type.Unknown({ description: "True or false, or one of the texts True and False." })),
});
export type ScimUserBody = Static<typeof ScimUserBody>;

/** `POST` and `PUT` of `/scim/v2/Groups`. */
export const ScimGroupBody = open({
  displayName: { ...Group, description: "The name that role mappings use." },
  externalId: Removable(SingleLine(256)),
  members: Type.Optional(Type.Array(open({ value: Text("Id of a user.") }), { maxItems: 10_000 })),
});
export type ScimGroupBody = Static<typeof ScimGroupBody>;

/** `PATCH` of `/scim/v2/Users/{id}` and `/scim/v2/Groups/{id}` (RFC 7644, 3.5.2). */
export const ScimPatch = open({
  Operations: Type.Array(
    open({
      op: Text("`add`, `replace` or `remove`; case does not count."),
      path: Type.Optional(Type.String()),
      value: Type.Optional(Type.Unknown()),
    }),
    { minItems: 1, maxItems: 100 },
  ),
});
export type ScimPatch = Static<typeof ScimPatch>;
