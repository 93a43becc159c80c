import type { TSchema } from "@sinclair/typebox";
import { SCIM_SCHEMAS, ScimGroupBody, ScimPatch, ScimUserBody } from "#shared/admin/scim.ts";
import { documented, NO_DATABASE, plainSchema } from "./documented.ts";

/** `GET /scim/v2/ServiceProviderConfig`: the supported parts of SCIM. */
export const SCIM_CONFIG = {
  schemas: [SCIM_SCHEMAS.config],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "An admin token with the role administrator.",
      primary: true,
    },
  ],
};

const REFUSALS = {
  400: "What is wrong, in SCIM's form.",
  401: "No valid admin key or token.",
  403: "The token's role is not administrator.",
  404: "No user or group has this id.",
  409: "The userName or displayName is taken.",
  ...NO_DATABASE,
};

type More = { status?: number; body?: TSchema; description?: string };

const docs = (summary: string, { status = 200, body, description = "" }: More = {}) =>
  documented(summary, {
    tag: "SCIM",
    description,
    by: ["adminKey"],
    ...(body && { body: { "application/scim+json": { schema: plainSchema(body) } } }),
    answers: { [status]: "Done.", ...REFUSALS },
  });

const GROUPS =
  "The role mapping of its name gives its members their role and team at once. Ids that no user has are left out.";

export const SCIM_DOCS = {
  config: docs("What of SCIM there is"),
  list: docs("List people as SCIM users", {
    description: 'With `filter` (`userName eq "…"` only), `startIndex` and `count` (up to 200; default 100).',
  }),
  create: docs("Add a person", { status: 201, body: ScimUserBody }),
  read: docs("Read a person"),
  replace: docs("Replace a person", { body: ScimUserBody }),
  patch: docs("Change a person", {
    description: "`active` false ends the person's sessions and revokes the person's keys.",
    body: ScimPatch,
  }),
  listGroups: docs("List a directory's groups", {
    description:
      'With `filter` (`displayName eq "…"` or `externalId eq "…"`), `startIndex`, `count`, and `excludedAttributes=members`.',
  }),
  createGroup: docs("Add a group", { status: 201, body: ScimGroupBody, description: GROUPS }),
  readGroup: docs("Read a group"),
  replaceGroup: docs("Replace a group", { body: ScimGroupBody, description: GROUPS }),
  patchGroup: docs("Change a group or its members", { status: 204, body: ScimPatch, description: GROUPS }),
  deleteGroup: docs("Delete a group", { status: 204, description: GROUPS }),
  disable: docs("Disable a person", {
    status: 204,
    description: "No one is deleted: records keep the name.",
  }),
};
