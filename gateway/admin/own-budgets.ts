import type { Database } from "#drizzle/database.ts";
import type { BudgetView } from "#shared/admin/budgets.ts";
import { storedEmail } from "#shared/admin/people.ts";
import type { Own } from "../identity/own-person.ts";
import { budgetsInForce } from "../stores/budgets.ts";
import type { KeyWithSecrets } from "../stores/keys.ts";
import { budgetViews } from "./budgets.ts";

/** A person's budgets, the fullest first: own, keys', teams'. Others would show a member what others spend. */
export async function ownBudgets(
  db: Database["db"],
  { email, team, keys }: Pick<Own, "email" | "team"> & { keys: readonly KeyWithSecrets[] },
  now: Date,
): Promise<BudgetView[]> {
  const ofKeys = keys.map(({ id }) => id);
  const found = await budgetsInForce(db, now, ({ on: { kind, id }, account }, teamsOf) => {
    const name = id ?? "";
    const counts = {
      team: () => [team, ...keys.map((key) => key.team)].some((one) => teamsOf(one).includes(name)),
      person: () => storedEmail(name) === storedEmail(email),
      key: () => ofKeys.includes(account),
      organisation: () => false,
      route: () => false,
      tag: () => false,
    };
    return counts[kind]();
  });
  return await budgetViews(db, found, now);
}
