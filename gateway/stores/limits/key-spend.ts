import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import type { Pico } from "../../limits/money.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../../limits/window.ts";

/** Spend of keys, people and teams with a budget, by account, since the beginning of the day and of the month. */
export type KeySpend = {
  day: string;
  month: string;
  byKey: ReadonlyMap<string, { day: Pico; month: Pico }>;
};

export const NOTHING_SPENT: KeySpend = { day: "", month: "", byKey: new Map() };

const DAY_MS = 86_400_000;

/** Nothing if the figures are of another period. */
export function spentIn({ day, month, byKey }: KeySpend, accountId: string, period: BudgetPeriod): Pico {
  const isDay = Date.parse(period.to) - Date.parse(period.from) === DAY_MS;
  if (period.from !== (isDay ? day : month)) return 0n;
  return byKey.get(accountId)?.[isDay ? "day" : "month"] ?? 0n;
}

export async function readSpend(sql: postgres.Sql, now: Date): Promise<KeySpend> {
  const [day, month] = [budgetPeriodAt("day", now).from, budgetPeriodAt("month", now).from];
  const rows = await sql<{ keyId: string; day: string; month: string }[]>`
    select spent.key_id as "keyId", ceil(sum(usd) * 1e12)::text as month,
      coalesce(ceil(sum(usd) filter (where day = ${day}::text::date) * 1e12), 0)::text as day
    from key_spend as spent join (
      select id from keys where org_id = ${DEFAULT_ORG} and limits ? 'budget_usd' and revoked_at is null
      union all select md5('person ' || email)::uuid from people where org_id = ${DEFAULT_ORG} and budget_usd is not null
      union select md5('person ' || lower(owner))::uuid from keys
        where org_id = ${DEFAULT_ORG} and own and owner is not null and limits ? 'budget_usd' and revoked_at is null
      union all select md5('team ' || name)::uuid from teams where org_id = ${DEFAULT_ORG} and budget_usd is not null
    ) as budgeted on budgeted.id = spent.key_id
    where spent.org_id = ${DEFAULT_ORG} and spent.day >= ${month}::text::date
    group by spent.key_id`;
  const byKey = new Map(
    rows.map((row) => [row.keyId, { day: BigInt(row.day), month: BigInt(row.month) }] as const),
  );
  return { day, month, byKey };
}
