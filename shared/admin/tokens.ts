import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, oneOf, Removable, Text, TextOrNull } from "../schema.ts";
import { Instant, Name, RepositoryField } from "./fields.ts";
import { RoleField, TeamField } from "./people.ts";

/** What a token opens without a role: `/metrics`, the reporting API, or pull requests and their cost. */
export const TOKEN_SCOPES = ["metrics", "reports", "pull_requests"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export const TOKEN_DAYS_DEFAULT = 90;
export const TOKEN_DAYS_MAX = 366;

/** `POST /admin/v1/tokens`. Its name cannot be mistaken for an e-mail or the admin key in the audit log. */
export const TokenBody = closed({
  name: Name,
  role: Type.Optional({ ...RoleField, description: "Everything that the role may do. Instead of `scopes`." }),
  scopes: Type.Optional(
    Type.Array(oneOf(TOKEN_SCOPES), {
      minItems: 1,
      uniqueItems: true,
      description:
        "Only `/metrics` (`metrics`), reports and pull requests (`reports`), pull requests and their cost (`pull_requests`). Instead of `role`.",
    }),
  ),
  team: Type.Optional({
    ...TeamField,
    description:
      "Limits a manager's token, or one with scopes, to this team and those below it. Without one, people's e-mails are masked.",
  }),
  repository: Removable(
    RepositoryField("Limits the scope `pull_requests` to this repository (`owner/name`)."),
  ),
  expires_at: Type.Optional(
    Instant(
      `The token is refused from then on; at most ${TOKEN_DAYS_MAX} days away. Default: in ${TOKEN_DAYS_DEFAULT} days.`,
    ),
  ),
});

export type TokenBody = Static<typeof TokenBody>;

const view = {
  id: Type.String({ format: "uuid" }),
  name: Type.String(),
  role: nullable(RoleField),
  scopes: nullable(Type.Array(oneOf(TOKEN_SCOPES))),
  team: nullable(Type.String()),
  repository: nullable(Type.String()),
  maker: TextOrNull(
    "The administrator with whom the token ends, or `admin key`. Null: made by an earlier version.",
  ),
  last_four: Text("End of the secret."),
  expires_at: Type.String(),
  created_at: Type.String(),
};
export const TokenView = closed(view);
export type TokenView = Static<typeof TokenView>;
/** The one answer that shows a token. */
export const TokenWithSecret = closed({
  ...view,
  secret: Text("Shown only once, because only its SHA-256 is stored."),
});
