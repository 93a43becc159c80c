import { type Static, Type } from "@sinclair/typebox";
import { closed, oneOf, Text, TextOrNull } from "../schema.ts";

const FOUND_KINDS = ["person", "key", "team", "route", "model", "repository", "pull_request"] as const;

/** `GET /admin/v1/search`: what the viewer may see whose name contains a text. */
export const FoundNames = closed({
  data: Type.Array(
    closed({
      kind: oneOf(FOUND_KINDS),
      name: Text("A pull request is `owner/name#7`."),
      id: TextOrNull("Of a person or a key, in its address. Null: the name is."),
      detail: TextOrNull("A person's name, or the owner of a key."),
    }),
  ),
});
export type FoundNames = Static<typeof FoundNames>;
