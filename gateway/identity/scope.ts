import type { RecordScope } from "../stores/record-list.ts";
import type { SavedScope } from "../stores/reports/saved-reports.ts";
import type { Viewer } from "./viewer.ts";

/** The records that a viewer sees: a member's own, or, for a team's manager, the team's. */
export function recordScope({ role, team, person }: Viewer): RecordScope {
  if (role === "administrator") return null;
  if (role === "manager") return team === null ? null : { team };
  // A token with a member's role has no person, so it owns no records.
  return { owner: person?.email ?? "" };
}

/** The saved reports that there are for a viewer: to a manager of a team, their own and the team's. */
export const savedScope = ({ role, team, person }: Viewer): SavedScope =>
  role === "administrator" || team === null ? null : { owner: person?.email ?? null, team };
