import type postgres from "postgres";
import { PERIODS, type PeriodName } from "#shared/admin/budgets.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Pico } from "../../limits/money.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../../limits/window.ts";

/** Spend of what has a budget, by account, in the periods at `atMs` (milliseconds since 1970). */
export type KeySpend = {
  atMs: number;
  byKey: ReadonlyMap<string, Readonly<Record<PeriodName, Pico>>>;
};

export const NOTHING_SPENT: KeySpend = { atMs: 0, byKey: new Map() };

/** Nothing if the figures are of another period. */
export function spentIn({ atMs, byKey }: KeySpend, accountId: string, { from, to }: BudgetPeriod): Pico {
  const name = PERIODS.find((one) => {
    const known = budgetPeriodAt(one, new Date(atMs));
    return known.from === from && known.to === to;
  });
  return (name && byKey.get(accountId)?.[name]) ?? 0n;
}

export async function readSpend(sql: postgres.Sql, now: Date): Promise<KeySpend> {
  const [day, week, month, quarter] = PERIODS.map((period) => budgetPeriodAt(period, now).from);
  const since = (from = "") =>
    sql`coalesce(ceil(sum(usd) filter (where day >= ${from}::text::date) * 1e12), 0)::text`;
  const rows = await sql<({ keyId: string } & Record<PeriodName, string>)[]>`
    select spent.key_id as "keyId", ${since(day)} as day, ${since(week)} as week, ${since(month)} as month,
      ${since(quarter)} as quarter
    from key_spend as spent join (
      select id from keys where org_id = ${DEFAULT_ORG} and limits ? 'budget_usd' and revoked_at is null
      union select md5('person ' || email)::uuid from people where org_id = ${DEFAULT_ORG} and budget_usd is not null
      union select md5('person ' || lower(owner))::uuid from keys
        where org_id = ${DEFAULT_ORG} and own and owner is not null and limits ? 'budget_usd' and revoked_at is null
      union select md5('team ' || name)::uuid from teams where org_id = ${DEFAULT_ORG} and budget_usd is not null
      union select account from budgets where org_id = ${DEFAULT_ORG} and mode = 'hard'
    ) as budgeted on budgeted.id = spent.key_id
    where spent.org_id = ${DEFAULT_ORG}
      and spent.day >= least(${week ?? ""}::text::date, ${quarter ?? ""}::text::date)
    group by spent.key_id`;
  return { atMs: now.getTime(), byKey: new Map(rows.map(({ keyId, ...usd }) => [keyId, inPico(usd)])) };
}

/** From whole pico-dollars as text. */
export const inPico = (usd: Readonly<Record<PeriodName, string>>): Record<PeriodName, Pico> => ({
  day: BigInt(usd.day),
  week: BigInt(usd.week),
  month: BigInt(usd.month),
  quarter: BigInt(usd.quarter),
});
