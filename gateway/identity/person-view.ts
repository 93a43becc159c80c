import { PersonView } from "#shared/admin/people.ts";
import { viewAs } from "#shared/view-as.ts";
import type { PersonRow } from "../stores/identity/people.ts";

/** A person as the API shows them. */
export const personView = ({ createdAt, updatedAt, ...row }: PersonRow): PersonView =>
  viewAs(PersonView, { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() });
