import { sql } from "drizzle-orm";
import type { Runner } from "#drizzle/database.ts";
import type { Spend, SpendBy } from "#shared/admin/spend.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

const NAME = {
  key: "key_id::text",
  person: "lower(owner)",
  team: "team",
  route: "route",
  provider: "provider",
} as const satisfies Record<SpendBy, string>;

/** Fewer records are read one by one, as in reports. */
const SUMS_FROM = 20_000;

/** `sumsFrom`: how many records sums must tell of to be read. */
type Window = Pick<Spend, "from" | "month_from"> & { sumsFrom?: number };

/** The last hour of the day in which a cell was active: its highest bit. */
const LAST_HOUR = sql.raw(
  "(day::timestamp at time zone 'UTC') + make_interval(hours => length(ltrim(hours::bit(24)::text, '0')) - 1)",
);

/**
 * What calls since `from` were made with, the latest use of each, and its cost since `month_from`: both the beginning of a
 * day. Days that are summed up and did not change since are read as sums, which know no provider; in them, the latest call
 * is looked up in the last hour with any.
 */
export async function listSpend(
  reader: Runner,
  by: SpendBy,
  { from, month_from: monthFrom, sumsFrom = SUMS_FROM }: Window,
): Promise<Spend["data"]> {
  const name = sql.raw(NAME[by]);
  const teams = sql.raw(by === "team" ? "cross join lateral unnest(r.teams) as team" : "");
  const isSummed = by !== "provider";
  const summed =
    by === "route"
      ? sql`select value as name, at, at as hour, channel, records, uncertain, cost_usd
        from rollup_sums
        where org_id = ${DEFAULT_ORG} and kind = 'route' and scope = '' and grain = 'hour' and at >= ${from}::timestamptz`
      : sql`select ${isSummed ? name : sql`null::text`}, ${LAST_HOUR}, ${LAST_HOUR}, channel, records, uncertain, cost_usd
        from rollup_sessions r ${teams} where org_id = ${DEFAULT_ORG} and day >= ${from}::date`;
  // Where sessions have few calls, their sums are as many as the records.
  const cells =
    by === "route" || sumsFrom === 0
      ? sql`0`
      : sql`3 * (select count(*) from rollup_sessions where org_id = ${DEFAULT_ORG} and day >= ${from}::date)`;
  const single = sql`select ${name}, started_at, null::timestamptz, channel, 1, (unpriced or partial or cost_usd is null)::integer, cost_usd
    from requests r ${teams} where r.org_id = ${DEFAULT_ORG} and started_at >=`;
  const rows = await reader.execute<
    Omit<Spend["data"][number], "last_used_at"> & { last: string | Date }
  >(sql`
    with reach as (
      select coalesce(max(date_trunc('day', rolled_to, 'UTC')) filter (where ${isSummed} and (
          select coalesce(sum(records), 0) >= ${sumsFrom}::bigint + ${cells} from rollup_sums
          where org_id = ${DEFAULT_ORG} and kind = 'total' and scope = '' and grain = 'day' and at >= ${from}::timestamptz)), '-infinity') as rolled_to,
        coalesce(max(raw_from), '-infinity') as raw_from
      from rollup_state where org_id = ${DEFAULT_ORG}
    ), marked as (
      select distinct date_trunc('day', hour, 'UTC') as day from rollup_marks, reach
      where org_id = ${DEFAULT_ORG} and hour >= greatest(raw_from, ${from}::timestamptz) and hour < rolled_to
    ), facts as (
      select s.name, s.at, s.hour, s.channel, s.records, s.uncertain, s.cost_usd
      from (${summed}) as s(name, at, hour, channel, records, uncertain, cost_usd), reach
      where s.at < reach.rolled_to and date_trunc('day', s.at, 'UTC') not in (select day from marked)
      union all ${single} greatest((select rolled_to from reach), ${from}::timestamptz)
      union all select s.* from marked m cross join lateral (
        ${single} m.day and started_at < m.day + interval '1 day') s
    ), sums as (
      select name, coalesce(sum(records) filter (where at >= ${monthFrom}::timestamptz), 0)::integer as requests,
        sum(cost_usd) filter (where at >= ${monthFrom}::timestamptz and channel <> 'subscription')::text as cost_usd,
        coalesce(bool_or(uncertain > 0) filter (where at >= ${monthFrom}::timestamptz and channel <> 'subscription'), false)
          as floor,
        max(at) as last, max(hour) as hour
      from facts where name is not null group by 1
    ), latest as (
      select s.name, max(s.started_at) as at from (select distinct hour from sums where hour = last) h cross join lateral (
        ${single} h.hour and started_at < h.hour + interval '1 hour') as s(name, started_at) group by 1
    )
    select name, requests, cost_usd, floor, greatest(last, latest.at) as last
    from sums left join latest using (name) order by 5 desc`);
  return rows.map(({ last, requests, cost_usd: cost, ...row }) => ({
    ...row,
    requests,
    cost_usd: requests === 0 ? "0" : cost,
    last_used_at: new Date(last).toISOString(),
  }));
}

/** Models that providers were called with since `from`, by provider and name. */
export async function listCalledModels(
  reader: Runner,
  from: string,
): Promise<{ provider: string; model: string }[]> {
  return [
    ...(await reader.execute<{ provider: string; model: string }>(sql`
      select distinct provider, model from requests
      where org_id = ${DEFAULT_ORG} and started_at >= ${from}::timestamptz and provider is not null and model is not null
      order by provider, model limit 1000`)),
  ];
}
