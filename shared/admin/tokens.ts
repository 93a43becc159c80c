import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";
import { Instant, Name } from "./fields.ts";
import { RoleField, TeamField } from "./people.ts";

/** `POST /admin/v1/tokens`. Its name cannot be mistaken for an e-mail or the admin key in the audit log. */
export const TokenBody = closed({
  name: Name,
  role: RoleField,
  team: Type.Optional({
    ...TeamField,
    description: "Limits a manager's token to this team and those below it.",
  }),
  expires_at: Instant("The token is refused from then on."),
});

const view = {
  id: Type.String({ format: "uuid" }),
  name: Type.String(),
  role: RoleField,
  team: nullable(Type.String()),
  last_four: Type.String({ description: "End of the secret." }),
  expires_at: Type.String(),
  created_at: Type.String(),
};
export const TokenView = closed(view);
export type TokenView = Static<typeof TokenView>;
/** The one answer that shows a token. */
export const TokenWithSecret = closed({
  ...view,
  secret: Type.String({ description: "Shown only once, because only its SHA-256 is stored." }),
});
