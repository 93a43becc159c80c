import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable, Text } from "../schema.ts";

/** A name that the metrics receiver did not store; never a value. */
export const DroppedNameView = closed({
  id: Type.String({ format: "uuid" }),
  key_id: Type.String({ format: "uuid" }),
  key_name: nullable(Type.String()),
  day: Text("UTC, as 2026-11-20."),
  kind: Text("`attribute` or `metric`."),
  name: Type.String(),
  first_at: Text("When it first arrived that day."),
});
export type DroppedNameView = Static<typeof DroppedNameView>;
