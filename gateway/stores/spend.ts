import { sql } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import type { Spend, SpendBy } from "#shared/admin/spend.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

const NAME = {
  key: "key_id::text",
  person: "lower(owner)",
  team: "team",
  route: "route",
  provider: "provider",
} as const satisfies Record<SpendBy, string>;

type Window = Pick<Spend, "from" | "month_from">;

/** What calls since `from` were made with, the latest use of each, and its cost since `month_from`. */
export async function listSpend(
  reader: Pick<Transaction, "execute">,
  by: SpendBy,
  window: Window,
): Promise<Spend["data"]> {
  const name = sql.raw(NAME[by]);
  const teams = sql.raw(by === "team" ? "cross join lateral unnest(teams) as team" : "");
  const inMonth = sql`started_at >= ${window.month_from}::timestamptz`;
  const rows = await reader.execute<
    Omit<Spend["data"][number], "last_used_at"> & { last: string | Date }
  >(sql`
    select ${name} as name, count(*) filter (where ${inMonth})::integer as requests,
      sum(cost_usd) filter (where ${inMonth} and channel <> 'subscription')::text as cost_usd,
      coalesce(bool_or(${inMonth} and channel <> 'subscription' and (unpriced or partial or cost_usd is null)), false)
        as floor,
      max(started_at) as last
    from requests ${teams}
    where org_id = ${DEFAULT_ORG} and started_at >= ${window.from}::timestamptz and ${name} is not null
    group by 1 order by max(started_at) desc`);
  return rows.map(({ last, requests, cost_usd: cost, ...row }) => ({
    ...row,
    requests,
    cost_usd: requests === 0 ? "0" : cost,
    last_used_at: new Date(last).toISOString(),
  }));
}

/** Models that providers were called with since `from`, by provider and name. */
export async function listCalledModels(
  reader: Pick<Transaction, "execute">,
  from: string,
): Promise<{ provider: string; model: string }[]> {
  return [
    ...(await reader.execute<{ provider: string; model: string }>(sql`
      select distinct provider, model from requests
      where org_id = ${DEFAULT_ORG} and started_at >= ${from}::timestamptz and provider is not null and model is not null
      order by provider, model limit 1000`)),
  ];
}
