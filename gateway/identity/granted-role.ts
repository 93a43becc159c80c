import { ROLES } from "#shared/admin/people.ts";
import type { PersonRow } from "../stores/identity/people.ts";
import type { RoleMappingRow } from "../stores/identity/role-mappings.ts";

type Granted = Pick<PersonRow, "role" | "team" | "unmapped">;

/** A person's role and team by mappings: the highest role and its team, else what an administrator set. */
export function grantedTo(
  { role, team, unmapped }: Granted,
  mappings: readonly Pick<RoleMappingRow, "role" | "team">[],
): Granted {
  const own = { role, team, ...unmapped };
  const highest = ROLES.findLast((it) => mappings.some((mapping) => mapping.role === it));
  if (highest === undefined) return { ...own, unmapped: {} };
  const teams = mappings.filter((it) => it.role === highest).map((it) => it.team);
  const given = teams.find((it) => it !== null) ?? null;
  if (given === null) return { role: highest, team: own.team, unmapped: { role: own.role } };
  return { role: highest, team: given, unmapped: { role: own.role, team: own.team } };
}
