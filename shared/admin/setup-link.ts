import { type Static, Type } from "@sinclair/typebox";
import { closed } from "../schema.ts";

/** The answer of `POST /admin/v1/setup-links`. */
export const SetupLink = closed({
  path: Type.String({
    description: "Path and query at the GitHub App's address. It opens the set-up page once.",
  }),
  url: Type.String({
    description: "The link at the address where a browser reaches the App, as far as is known.",
  }),
  expires_at: Type.String({ description: "RFC 3339." }),
});
export type SetupLink = Static<typeof SetupLink>;
