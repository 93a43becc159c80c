import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

const Captured = closed({
  text: Type.String({ description: "Its first mebibyte." }),
  truncated: Type.Boolean(),
});

/** `GET /admin/v1/requests/{id}/body`. */
export const BodyView = closed({
  request_id: Type.String({ format: "uuid" }),
  captured_at: Type.String(),
  expires_at: Type.String({ description: "Deleted then." }),
  request: Captured,
  answer: nullable(Captured),
});
export type BodyView = Static<typeof BodyView>;
