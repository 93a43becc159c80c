import { type Static, Type } from "@sinclair/typebox";
import { Spec } from "../report.ts";
import { closed, Flag } from "../schema.ts";
import { Name, Prose, SingleLine } from "./fields.ts";

const members = {
  title: SingleLine(200, "Shown above the report."),
  description: Prose(2000, "What the report shows; empty if absent."),
  spec: Spec,
};
const description = Type.Optional(members.description);

/** `POST /admin/v1/reports`. */
export const SavedReportBody = closed({ id: Name, ...members, description });
export type SavedReportBody = Static<typeof SavedReportBody>;
/** `PUT /admin/v1/reports/{id}`: an `id` must be the address's. */
export const SavedReportPut = closed({ id: Type.Optional(Name), ...members, description });
/** `PATCH /admin/v1/reports/{id}`: absent members are kept. */
export const SavedReportPatch = Type.Partial(closed(members));
export type SavedReportPatch = Static<typeof SavedReportPatch>;

export const SavedReportView = closed({
  id: Name,
  ...members,
  built_in: Flag("There from the start, and not to be changed."),
  created_at: Type.Union([Type.String(), Type.Null()], { description: "Null where it is built in." }),
  updated_at: Type.Union([Type.String(), Type.Null()], { description: "Null where it is built in." }),
});
export type SavedReportView = Static<typeof SavedReportView>;
