import type postgres from "postgres";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { formatPico, type Pico } from "../../limits/money.ts";
import type { AwayTotal } from "../../limits/overruns.ts";
import { type BudgetPeriod, budgetPeriodAt } from "../../limits/window.ts";
import type { AwayFigures } from "./key-account.ts";

/** A key and its current budget period. */
export type LimitAccount = { keyId: string; period: BudgetPeriod };

/** `holder` is this process. */
export type LimitPlace = { account: LimitAccount; holder: string };

/** What keys and teams with a budget have spent, by account, since the beginning of the day and of the month. */
export type KeySpend = {
  day: string;
  month: string;
  byKey: ReadonlyMap<string, { day: Pico; month: Pico }>;
};

/** One statement: the figures are added as a whole, or not at all. */
export async function storeAway(
  sql: postgres.Sql,
  { account: { keyId, period }, holder }: LimitPlace,
  { slots, minutes, unbooked }: AwayFigures & { unbooked: { usd: Pico; calls: number } },
): Promise<void> {
  const rows = minutes.map(({ atMs, usd, ...counts }) => ({
    ...counts,
    minute: new Date(atMs).toISOString(),
    usd: formatPico(usd),
  }));
  await sql`
    with counted as (
      insert into limit_rates as booked (org_id, key_id, slot, requests, tokens)
      select ${DEFAULT_ORG}, ${keyId}, slot, requests, tokens
      from json_to_recordset(${JSON.stringify(slots)}::text::json) as r(slot bigint, requests int, tokens bigint)
      on conflict (org_id, key_id, slot) do update
      set requests = booked.requests + excluded.requests, tokens = booked.tokens + excluded.tokens
    ), leased as (
      insert into limit_leases (org_id, key_id, holder, period, usd, calls)
      values (${DEFAULT_ORG}, ${keyId}, ${holder}, ${period.from}::text::date,
        ${formatPico(unbooked.usd)}::text::numeric, ${unbooked.calls}::int)
      on conflict (org_id, key_id, holder) do update
      set period = excluded.period, usd = excluded.usd, calls = excluded.calls
    )
    insert into limit_away as known (org_id, key_id, minute, holder, requests, tokens, calls, usd)
    select ${DEFAULT_ORG}, ${keyId}, minute, ${holder}, requests, tokens, calls, usd
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r(minute timestamptz, requests int, tokens bigint, calls int, usd numeric)
    on conflict (org_id, key_id, minute, holder) do update
    set requests = known.requests + excluded.requests, tokens = known.tokens + excluded.tokens,
      calls = greatest(known.calls, excluded.calls), usd = known.usd + excluded.usd`;
}

export async function awayTotals(
  sql: postgres.Sql,
  keyId: string,
  minutesMs: readonly number[],
): Promise<AwayTotal[]> {
  const minutes = minutesMs.map((ms) => new Date(ms).toISOString());
  return [
    ...(await sql<AwayTotal[]>`
      select sum(requests)::int as requests, sum(tokens)::float8 as tokens, sum(calls)::int as calls
      from limit_away where org_id = ${DEFAULT_ORG} and key_id = ${keyId}
        and minute = any(${minutes}::text[]::timestamptz[])
      group by minute`),
  ];
}

export async function readSpend(sql: postgres.Sql, now: Date): Promise<KeySpend> {
  const [day, month] = [budgetPeriodAt("day", now).from, budgetPeriodAt("month", now).from];
  const rows = await sql<{ keyId: string; day: string; month: string }[]>`
    select spent.key_id as "keyId", ceil(sum(usd) * 1e12)::text as month,
      coalesce(ceil(sum(usd) filter (where day = ${day}::text::date) * 1e12), 0)::text as day
    from key_spend as spent join (
      select id from keys where org_id = ${DEFAULT_ORG} and limits ? 'budget_usd' and revoked_at is null
      union all select md5('team ' || name)::uuid from teams where org_id = ${DEFAULT_ORG} and budget_usd is not null
    ) as budgeted on budgeted.id = spent.key_id
    where spent.org_id = ${DEFAULT_ORG} and spent.day >= ${month}::text::date
    group by spent.key_id`;
  const byKey = new Map(
    rows.map((row) => [row.keyId, { day: BigInt(row.day), month: BigInt(row.month) }] as const),
  );
  return { day, month, byKey };
}
