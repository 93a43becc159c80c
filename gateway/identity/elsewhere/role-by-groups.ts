import { ROLES, type Role } from "#shared/admin/people.ts";
import type { RoleMappingRow } from "../../stores/identity/role-mappings.ts";

type Granted = { role: Role; team: string | null };

/**
 * What the mappings of a person's groups grant: the highest role, and the team of its mapping; of equal ones, the first
 * with a team. Null: no mapping counts.
 */
export function roleByGroups(mappings: readonly RoleMappingRow[]): Granted | null {
  const role = ROLES.findLast((it) => mappings.some((mapping) => mapping.role === it));
  if (role === undefined) return null;
  const teams = mappings.filter((it) => it.role === role).map(({ team }) => team);
  return { role, team: teams.find((team) => team !== null) ?? null };
}
