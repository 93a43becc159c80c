import { sql } from "drizzle-orm";
import type { Db } from "#drizzle/database.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { tierOf } from "../pricing/tier.ts";

/** Where the prices of records are from: the list, a contract, the vendor's own figure, or interactive calls' for a batch. */
export type Basis = "list" | "contract" | "vendor" | "interactive" | "batch";

/** Records of one model, tier, unit and basis, added up. Figures are exact decimals. */
export type Metered = {
  model: string;
  tier: string;
  /** Unit of the price; empty: a cost without one. */
  kind: string;
  basis: Basis;
  /** They have counts and no price. */
  unpriced: boolean;
  /** Some are lower bounds: the answer was cut, or its usage is not known. */
  partial: boolean;
  /** They began in the days of the bill. */
  inBill: boolean;
  /** They began in the days as UTC has them, as reports do. */
  inUtc: boolean;
  /** They began in the days of the bill and ended after them, or began before them and ended in them. */
  atEdge: boolean;
  /** Null: not counted. */
  quantity: string | null;
  costUsd: string;
};

export type MeteredQuery = { providers: readonly string[]; days: readonly string[]; timeZone: string };

/** Counts of records without a price, by the units that they would have. */
const COUNTS = {
  input: "uncached_input_tokens",
  cache_read: "cache_read_tokens",
  cache_write_5m: "cache_write_5m_tokens",
  cache_write_1h: "cache_write_1h_tokens",
  output: "output_tokens",
  image: "images",
  character: "characters",
  web_search: "web_searches",
  file_search: "file_searches",
} as const;

/**
 * What was metered in the days of a bill, added up by Postgres. Records of the subscription lane are not billed by use. Of
 * a record whose cost its provider reported, the first unit carries what the list's prices differ by.
 */
export async function meteredIn({ db }: Db, { providers, days, timeZone }: MeteredQuery): Promise<Metered[]> {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || providers.length === 0) return [];
  const unpriced = Object.entries(COUNTS).map(
    ([kind, column]) => sql`(${sql.raw(`'${kind}'`)}, ${sql.identifier(column)}::numeric)`,
  );
  const rows = await db.execute<Omit<Metered, "tier"> & { tier: string | null }>(sql`
    with days as (select jsonb_array_elements_text(${JSON.stringify(days)}::text::jsonb)::date as day),
    r as (
      select q.*, coalesce(q.response_model, q.model, '') as answered,
        case when q.channel = 'batch' then 'batch' else q.service_tier end as in_tier,
        (q.started_at at time zone ${timeZone})::date in (select day from days) as in_bill,
        (q.started_at at time zone 'UTC')::date in (select day from days) as in_utc,
        ((q.started_at + coalesce(q.latency_ms, 0) * interval '1 ms') at time zone ${timeZone})::date
          in (select day from days) as ended_in_bill,
        q.partial or q.usage_source <> 'provider' or coalesce(q.pending, false) as is_partial,
        coalesce(q.price #>> '{}', '') as priced
      from requests q
      where q.org_id = ${DEFAULT_ORG} and q.provider = any (select jsonb_array_elements_text(${JSON.stringify(providers)}::text::jsonb))
        and q.channel <> 'subscription' and q.started_at >= ${first}::date - interval '2 days'
        and q.started_at < ${last}::date + interval '3 days'
    ),
    parts as (
      select r.*, u.kind, u.quantity,
        u.cost + case when u.place = 1 then r.cost_usd - u.whole else 0 end as cost, false as no_price
      from r, lateral (
        select split_part(part, ' ', 1) as kind,
          case when split_part(part, ' ', 1) = 'audio' then null else split_part(part, ' ', 2)::numeric end as quantity,
          split_part(part, ' ', 2)::numeric * split_part(part, ' ', 3)::numeric as cost, place,
          sum(split_part(part, ' ', 2)::numeric * split_part(part, ' ', 3)::numeric) over () as whole
        from unnest(string_to_array(r.priced, '|')) with ordinality as rows(part, place)
        where part ~ '^[a-z0-9_]+ -?[0-9]+ [0-9.]+$'
      ) u where r.cost_usd is not null
      union all
      select r.*, '', null, r.cost_usd, false from r
      where r.cost_usd is not null and r.priced !~ '^[a-z0-9_]+ -?[0-9]+ [0-9.]+[|]'
      union all
      select r.*, u.kind, u.quantity, 0, true
      from r, lateral (values ${sql.join(unpriced, sql`, `)}) u(kind, quantity)
      where r.cost_usd is null and u.quantity > 0
      union all
      select r.*, '', null, 0, false from r where r.cost_usd is null and r.is_partial
    )
    select answered as model, in_tier as tier, kind, coalesce(cost_basis, 'list') as basis, no_price as unpriced,
      bool_or(is_partial) as partial, in_bill as "inBill", in_utc as "inUtc", in_bill <> ended_in_bill as "atEdge",
      sum(quantity)::text as quantity, sum(cost)::text as "costUsd"
    from parts
    where in_bill or in_utc or ended_in_bill
    group by answered, in_tier, kind, coalesce(cost_basis, 'list'), no_price, in_bill, in_utc, in_bill <> ended_in_bill`);
  return rows.map((row) => ({ ...row, tier: tierOf(row.tier).name }));
}
