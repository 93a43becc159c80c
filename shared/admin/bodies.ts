import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, Text } from "../schema.ts";

const Captured = closed({
  text: Text("Its first mebibyte."),
  truncated: Type.Boolean(),
});

/** `GET /admin/v1/requests/{id}/body`. */
export const BodyView = closed({
  request_id: Type.String({ format: "uuid" }),
  captured_at: Type.String(),
  expires_at: Text("Deleted then."),
  request: Captured,
  answer: nullable(Captured),
});
export type BodyView = Static<typeof BodyView>;
