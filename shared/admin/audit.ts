import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, Text, TextOrNull } from "../schema.ts";

const State = nullable(Type.Record(Type.String(), Type.Unknown()));

/** One entry of `GET /admin/v1/audit`. */
export const AuditView = closed({
  id: Type.String({ format: "uuid" }),
  at: Text("RFC 3339."),
  actor: Text("`admin key`, or `first start` and `environment` for the gateway itself."),
  address: TextOrNull("IP address of the caller."),
  request_id: nullable(Type.String({ format: "uuid", description: "`x-request-id` of the answer." })),
  action: Type.String(),
  subject: Text("Name or id of what was changed, or the id of a request."),
  before: State,
  after: State,
});
/** `GET /admin/v1/audit/values`: what entries can be narrowed to. */
export const AuditValues = closed({
  actors: Type.Array(Type.String()),
  actions: Type.Array(Type.String()),
  subjects: Type.Array(Type.String(), { description: "Those of the latest entries." }),
});
export type AuditValues = Static<typeof AuditValues>;

export type AuditView = Static<typeof AuditView>;
