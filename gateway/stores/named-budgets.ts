import type { Transaction } from "#drizzle/database.ts";
import { ours } from "#drizzle/ours.ts";
import { budgets, type SharedBudget } from "#drizzle/schema/budgets.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { routes } from "#drizzle/schema/routes.ts";
import { isId } from "#shared/ids.ts";
import type { ClientKey } from "../directory.ts";
import { refuse } from "../errors.ts";
import { budgetAccount, personAccounts, scopeAccount, teamAccount } from "../limits/account-ids.ts";
import type { Reader } from "./change.ts";
import { namedRows } from "./rows.ts";
import { teamRows } from "./teams.ts";

export type BudgetRow = typeof budgets.$inferSelect;

const rows = namedRows(budgets);

export const budgetRows = {
  ...rows,
  /** Finds the account of what it is on. @throws GatewayError invalid_request if that does not exist. */
  write: async (tx: Transaction, row: BudgetRow): Promise<void> => {
    const account = await accountOf(tx, row);
    const before = await rows.find(tx, row.name);
    const pastSummedAt = before?.account === account ? before.pastSummedAt : null;
    await rows.write(tx, { ...row, account, pastSummedAt });
  },
};

/** @throws GatewayError invalid_request */
async function accountOf(reader: Reader, { kind, scopeId }: BudgetRow): Promise<string> {
  if ((kind === "organisation") !== (scopeId === null)) {
    const expected = scopeId === null ? `the ${kind}` : "nothing for the organisation";
    refuse(`/on/id: Expected ${expected}.`);
  }
  const id = scopeId ?? "";
  const account = {
    organisation: () => scopeAccount(kind, null),
    tag: () => scopeAccount(kind, id),
    person: () => personAccounts(id).id,
    key: () => keyNamed(reader, id),
    team: async () => ((await teamRows.find(reader, id)) ? teamAccount(id) : null),
    route: async () => ((await hasRoute(reader, id)) ? scopeAccount(kind, id) : null),
  } satisfies Record<BudgetRow["kind"], () => unknown>;
  const found = await account[kind]();
  if (found === null) refuse(`/on/id: No ${kind} is named ${id}.`);
  return found;
}

/** The id of a key that is given by its id or its name; null: unknown. */
export async function keyNamed(reader: Reader, id: string): Promise<string | null> {
  const isIt = ours(keys, isId(id) ? { id } : { name: id });
  const [key] = await reader.select({ id: keys.id }).from(keys).where(isIt);
  return key?.id ?? null;
}

const hasRoute = async (reader: Reader, name: string): Promise<boolean> =>
  (await reader.select({ name: routes.name }).from(routes).where(ours(routes, { name }))).length > 0;

/** Hard ones, as calls count in them. */
export async function loadSharedBudgets(reader: Reader): Promise<SharedBudget[]> {
  const hard = (await rows.all(reader)).filter(({ mode }) => mode === "hard");
  return hard.map(({ name, kind, scopeId, account, amountUsd, period, unpriced, whenAway }) => ({
    id: budgetAccount(name),
    spendId: account,
    budget: { name, kind, scopeId },
    limits: { budget_usd: amountUsd, budget_period: period, unpriced, when_away: whenAway },
  }));
}

/** Whether the call alone decides if it counts in the budget. */
export const isOfCalls = ({ budget }: SharedBudget): boolean =>
  budget?.kind === "route" || budget?.kind === "tag";

export function countsKey(
  { budget, spendId }: SharedBudget,
  { id, owner, teams }: Pick<ClientKey, "id" | "owner" | "teams">,
): boolean {
  if (budget?.kind === "organisation") return true;
  if (budget?.kind === "team") return teams?.includes(budget.scopeId ?? "") ?? false;
  if (budget?.kind === "person") return owner !== null && personAccounts(owner).id === spendId;
  return budget?.kind === "key" && id === spendId;
}
