import { and, eq, gt, isNotNull, isNull, or, sql } from "drizzle-orm";
import { ours } from "#drizzle/ours.ts";
import { budgets } from "#drizzle/schema/budgets.ts";
import { people } from "#drizzle/schema/identity.ts";
import { type KeyLimits, keys } from "#drizzle/schema/keys.ts";
import { type BudgetKind, type BudgetScope, PERIODS, THRESHOLDS } from "#shared/admin/budgets.ts";
import { storedEmail } from "#shared/admin/people.ts";
import { personAccounts, teamAccount } from "../limits/account-ids.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../limits/window.ts";
import type { Reader } from "./change.ts";
import { teamLookup } from "./directory/team-lookup.ts";
import { spentSince } from "./keys.ts";
import type { BudgetRow } from "./named-budgets.ts";
import { allTeams, type TeamRow } from "./teams.ts";

/** A budget of a team, of a person, of the keys that a person made, of another key that may be used, or a named one. */
export type BudgetInForce = Pick<BudgetRow, "period" | "mode" | "thresholds" | "unpriced" | "whenAway"> & {
  kind: BudgetKind;
  name: string;
  owner: string | null;
  on: { kind: BudgetScope; id: string | null };
  /** The account under which its spend is booked. */
  account: string;
  /** The team it belongs to, then those above. */
  teams: readonly string[];
  /** Exact decimals. */
  budgetUsd: string;
  usedUsd: string;
  dates: BudgetPeriod;
};

type Unspent = Omit<BudgetInForce, "usedUsd" | "dates">;

/** What the budgets of keys, people and teams do not say. */
const STANDARD = { mode: "hard", thresholds: THRESHOLDS, unpriced: "refuse", whenAway: "local" } as const;

/**
 * Every budget that applies at `now`, with the recorded cost of its current period; `wanted` narrows them. Those of a scope are
 * the ones with this `on`: several may have it.
 */
export async function budgetsInForce(
  reader: Reader,
  now: Date,
  wanted: (budget: Unspent, teamsOf: TeamsOf) => boolean = () => true,
): Promise<BudgetInForce[]> {
  const rows = await allTeams(reader);
  const placeOf = teamLookup(rows);
  const teamsOf = (team: string | null) => placeOf(team).teams ?? [];
  const found = [
    ...teamBudgets(rows, teamsOf),
    ...(await personBudgets(reader, teamsOf)),
    ...(await keyBudgets(reader, now, teamsOf)),
    ...(await ownBudgets(reader, teamsOf)),
  ];
  const all = found.filter((budget) => wanted(budget, teamsOf));
  const spent = PERIODS.map(async (period) => {
    const dates = budgetPeriodAt(period, now);
    const ofPeriod = all.filter((budget) => budget.period === period);
    if (ofPeriod.length === 0) return [];
    const accounts = ofPeriod.map(({ account }) => account);
    const used = await spentSince(reader, accounts, dates.from);
    return ofPeriod.map((budget) => ({ ...budget, dates, usedUsd: used.get(budget.account) ?? "0" }));
  });
  return (await Promise.all(spent)).flat();
}

type TeamsOf = (team: string | null) => readonly string[];

const teamBudgets = (rows: readonly TeamRow[], teamsOf: TeamsOf): Unspent[] =>
  rows.flatMap(({ name, ...row }) =>
    carried(row, {
      on: { kind: "team", id: name },
      name,
      owner: null,
      account: teamAccount(name),
      teams: teamsOf(name),
    }),
  );

async function personBudgets(reader: Reader, teamsOf: TeamsOf): Promise<Unspent[]> {
  const isBudgeted = ours(people, { disabled: false }, isNotNull(people.budgetUsd));
  const rows = await reader.select().from(people).where(isBudgeted).orderBy(people.email);
  return rows.flatMap(({ email, team, ...row }) => {
    const { id: account } = personAccounts(email);
    const of = { name: email, owner: email, account, teams: teamsOf(team) };
    return carried(row, { ...of, on: { kind: "person", id: email } });
  });
}

type Carrier = Pick<Unspent, "name" | "owner" | "account" | "teams"> & {
  on: { kind: "team" | "person"; id: string };
};

/** The budget that a team or a person carries, if any. */
const carried = (
  { budgetUsd, budgetPeriod, unpriced }: Pick<TeamRow, "budgetUsd" | "budgetPeriod" | "unpriced">,
  of: Carrier,
): Unspent[] => {
  const terms = { unpriced: unpriced ?? "refuse", period: budgetPeriod ?? "month" } as const;
  return budgetUsd === null ? [] : [{ ...STANDARD, ...of, ...terms, kind: of.on.kind, budgetUsd }];
};

/** A key's team, or its owner's. */
const TEAM = sql<string | null>`coalesce(${keys.team}, ${people.team})`;

/** Those of keys; of the keys that a person made, which share what is spent, one for each amount. */
async function keyBudgets(reader: Reader, now: Date, teamsOf: TeamsOf): Promise<Unspent[]> {
  const { id, name, owner, limits, own, expiresAt } = keys;
  const isValid = or(isNull(expiresAt), gt(expiresAt, now.toISOString()));
  const rows = await reader
    .select({ id, name, owner, limits, own, team: TEAM })
    .from(keys)
    .leftJoin(people, and(eq(people.orgId, keys.orgId), eq(people.email, sql`lower(${keys.owner})`)))
    .where(ours(keys, { revokedAt: null }, isValid, sql`${keys.limits} ? 'budget_usd'`));
  const found = rows.flatMap(({ limits, team, ...key }): [string, Unspent][] =>
    limits?.budget_usd === undefined
      ? []
      : [keyBudget(key, { ...limits, budget_usd: limits.budget_usd }, teamsOf(team))],
  );
  return [...new Map(found).values()];
}

type BudgetedKey = { id: string; name: string; owner: string | null; own: boolean };

function keyBudget(
  { id, name, owner, own }: BudgetedKey,
  { budget_usd: budgetUsd, ...limits }: KeyLimits & { budget_usd: string },
  teams: readonly string[],
): [string, Unspent] {
  const shared = own && owner !== null ? { email: storedEmail(owner), ...personAccounts(owner) } : null;
  const period = limits.budget_period ?? "month";
  const budget: Unspent = {
    ...STANDARD,
    kind: shared ? "own_keys" : "key",
    name: shared?.email ?? name,
    owner,
    on: shared ? { kind: "person", id: shared.email } : { kind: "key", id },
    account: shared?.id ?? id,
    teams,
    budgetUsd,
    period,
    unpriced: limits.unpriced ?? "refuse",
    whenAway: limits.when_away ?? "local",
  };
  return [shared ? `${shared.id} ${budgetUsd} ${period}` : id, budget];
}

/** Those with names of their own. */
async function ownBudgets(reader: Reader, teamsOf: TeamsOf): Promise<Unspent[]> {
  const rows = await reader
    .select({ budget: budgets, team: TEAM, owner: keys.owner })
    .from(budgets)
    .leftJoin(keys, sql`${budgets.kind} = 'key' and ${keys.id} = ${budgets.account}`)
    .leftJoin(
      people,
      sql`${people.email} = case ${budgets.kind} when 'person' then lower(${budgets.scopeId}) else lower(${keys.owner}) end`,
    )
    .where(ours(budgets));
  return rows.map(({ budget: { kind, scopeId, amountUsd, ...budget }, team, owner }) => ({
    ...budget,
    kind: "budget",
    on: { kind, id: scopeId },
    owner: kind === "person" ? scopeId : owner,
    teams: teamsOf(kind === "team" ? scopeId : team),
    budgetUsd: amountUsd,
  }));
}
