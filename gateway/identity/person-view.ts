import type { PersonView } from "#shared/admin/people.ts";
import type { PersonRow } from "../stores/identity/people.ts";

/** A person as the API shows them. */
export const personView = (row: PersonRow): PersonView => ({
  id: row.id,
  email: row.email,
  name: row.name,
  github_login: row.githubLogin,
  role: row.role,
  team: row.team,
  budget_usd: row.budgetUsd,
  budget_period: row.budgetPeriod,
  unpriced: row.unpriced,
  disabled: row.disabled,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});
