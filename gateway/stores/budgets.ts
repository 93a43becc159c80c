import { and, eq, gt, isNotNull, isNull, or, sql } from "drizzle-orm";
import { people } from "#drizzle/schema/identity.ts";
import { keys } from "#drizzle/schema/keys.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { personAccounts, teamAccount } from "../limits/account-ids.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../limits/window.ts";
import type { Reader } from "./change.ts";
import { teamLookup } from "./directory/team-lookup.ts";
import { spentSince } from "./keys.ts";
import { allTeams, type TeamRow } from "./teams.ts";

/** A budget of a team, of a person, of the keys that a person made, or of another key that may be used. */
export type BudgetInForce = {
  kind: "team" | "person" | "own_keys" | "key";
  name: string;
  owner: string | null;
  /** The account under which its spend is booked. */
  account: string;
  /** The team it belongs to, then those above. */
  teams: readonly string[];
  /** Exact decimals. */
  budgetUsd: string;
  usedUsd: string;
  period: "day" | "month";
  dates: BudgetPeriod;
};

type Unspent = Omit<BudgetInForce, "usedUsd" | "dates">;

/** Every budget in force at `now`, with the recorded cost of its current period. */
export async function budgetsInForce(reader: Reader, now: Date): Promise<BudgetInForce[]> {
  const rows = await allTeams(reader);
  const placeOf = teamLookup(rows);
  const teamsOf = (team: string | null) => placeOf(team).teams ?? [];
  const budgets = [
    ...teamBudgets(rows, teamsOf),
    ...(await personBudgets(reader, teamsOf)),
    ...(await keyBudgets(reader, now, teamsOf)),
  ];
  const found = (["day", "month"] as const).map(async (period) => {
    const dates = budgetPeriodAt(period, now);
    const ofPeriod = budgets.filter((budget) => budget.period === period);
    if (ofPeriod.length === 0) return [];
    const spent = await spentSince(
      reader,
      ofPeriod.map(({ account }) => account),
      dates.from,
    );
    return ofPeriod.map((budget) => ({ ...budget, dates, usedUsd: spent.get(budget.account) ?? "0" }));
  });
  return (await Promise.all(found)).flat();
}

type TeamsOf = (team: string | null) => readonly string[];

const teamBudgets = (rows: readonly TeamRow[], teamsOf: TeamsOf): Unspent[] =>
  rows.flatMap(({ name, budgetUsd, budgetPeriod }) =>
    budgetUsd === null
      ? []
      : [
          {
            kind: "team" as const,
            name,
            owner: null,
            account: teamAccount(name),
            teams: teamsOf(name),
            budgetUsd,
            period: budgetPeriod ?? "month",
          },
        ],
  );

async function personBudgets(reader: Reader, teamsOf: TeamsOf): Promise<Unspent[]> {
  const isBudgeted = and(
    eq(people.orgId, DEFAULT_ORG),
    isNotNull(people.budgetUsd),
    eq(people.disabled, false),
  );
  const rows = await reader.select().from(people).where(isBudgeted).orderBy(people.email);
  return rows.flatMap(({ email, team, budgetUsd, budgetPeriod }) =>
    budgetUsd === null
      ? []
      : [
          {
            kind: "person" as const,
            name: email,
            owner: email,
            account: personAccounts(email).id,
            teams: teamsOf(team),
            budgetUsd,
            period: budgetPeriod ?? "month",
          },
        ],
  );
}

/** Those of keys; of the keys that a person made, which share what is spent, one for each amount. */
async function keyBudgets(reader: Reader, now: Date, teamsOf: TeamsOf): Promise<Unspent[]> {
  const rows = await reader
    .select({
      id: keys.id,
      name: keys.name,
      owner: keys.owner,
      team: sql<string | null>`coalesce(${keys.team}, ${people.team})`,
      limits: keys.limits,
      own: keys.own,
    })
    .from(keys)
    .leftJoin(people, and(eq(people.orgId, keys.orgId), eq(people.email, sql`lower(${keys.owner})`)))
    .where(
      and(
        eq(keys.orgId, DEFAULT_ORG),
        isNull(keys.revokedAt),
        or(isNull(keys.expiresAt), gt(keys.expiresAt, now.toISOString())),
        sql`${keys.limits} ? 'budget_usd'`,
      ),
    );
  const found = new Map<string, Unspent>();
  for (const { id, name, owner, team, limits, own } of rows) {
    if (limits?.budget_usd === undefined) continue;
    const shared = own && owner !== null ? { email: storedEmail(owner), ...personAccounts(owner) } : null;
    const period = limits.budget_period ?? "month";
    found.set(shared ? `${shared.id} ${limits.budget_usd} ${period}` : id, {
      kind: shared ? "own_keys" : "key",
      name: shared?.email ?? name,
      owner,
      account: shared?.id ?? id,
      teams: teamsOf(team),
      budgetUsd: limits.budget_usd,
      period,
    });
  }
  return [...found.values()];
}
