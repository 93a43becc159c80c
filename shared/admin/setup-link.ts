import type { Static } from "@sinclair/typebox";
import { closed, Text } from "../schema.ts";

/** The answer of `POST /admin/v1/setup-links`. */
export const SetupLink = closed({
  path: Text("Path and query at the GitHub App's address. It opens the set-up page once."),
  url: Text("The link at the address where a browser reaches the App, as far as is known."),
  expires_at: Text("RFC 3339."),
});
export type SetupLink = Static<typeof SetupLink>;
