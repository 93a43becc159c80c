import type { Database } from "#drizzle/database.ts";
import type { BudgetView } from "#shared/admin/budgets.ts";
import { storedEmail } from "#shared/admin/people.ts";
import type { Own } from "../identity/own-person.ts";
import { budgetsInForce } from "../stores/budgets.ts";
import type { KeyWithSecrets } from "../stores/keys.ts";
import { budgetViews } from "./budgets.ts";

/** What a person's calls of this month were made with. */
type Used = { keys: readonly KeyWithSecrets[]; routes: readonly string[]; tags: readonly string[] };

/**
 * The budgets in which calls of a person count, the fullest first: their own, their keys', those of their teams, of the
 * organisation, and of the routes and tags that they use.
 */
export async function ownBudgets(
  db: Database["db"],
  { email, team, keys, routes, tags }: Pick<Own, "email" | "team"> & Used,
  now: Date,
): Promise<BudgetView[]> {
  const ofKeys = keys.map(({ id }) => id);
  const found = await budgetsInForce(db, now, ({ on: { kind, id }, account }, teamsOf) => {
    const name = id ?? "";
    const counts = {
      organisation: () => true,
      team: () => [team, ...keys.map((key) => key.team)].some((one) => teamsOf(one).includes(name)),
      person: () => storedEmail(name) === storedEmail(email),
      key: () => ofKeys.includes(account),
      route: () => routes.includes(name),
      tag: () => tags.includes(name),
    };
    return counts[kind]();
  });
  return await budgetViews(db, found, now);
}
