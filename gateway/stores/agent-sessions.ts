import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#drizzle/database.ts";
import { isUncertainPoint } from "#drizzle/schema/agent.ts";
import type { AgentSessionView } from "#shared/admin/agent-sessions.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

export type AgentSessionQuery = {
  /** Half-open, RFC 3339; of the points' own times. */
  from: string;
  to: string;
  client: string | null;
  /** Only sessions of which the gateway has calls too, or only the others; null: all. */
  alsoProxied: boolean | null;
  /** Of the last session on the page before. */
  after: { lastAt: string; session: string } | null;
  limit: number;
};

/** Whether a request is of the agent's session: its id alone, or beside its task's, as under `tallygate run`. */
const callsOf = (
  session: SQL,
): SQL => sql`r.org_id = ${DEFAULT_ORG} and ${session} in (r.session, r.agent_session)
  and r.session = any(array(select ${session} union all select a.session from session_agents a
    where a.org_id = ${DEFAULT_ORG} and a.agent_session = ${session}))`;
const CALLS = sql`select from requests r where ${callsOf(sql`p.session`)}`;

type Times = Record<"first_at" | "last_at", string>;

/** Sessions that agents have reported metrics for, latest report first. */
export async function listAgentSessions(
  db: Database["db"],
  query: AgentSessionQuery,
): Promise<AgentSessionView[]> {
  const { from, to, client, alsoProxied, after, limit } = query;
  const conditions: SQL[] = [
    sql`p.org_id = ${DEFAULT_ORG} and p.session is not null`,
    sql`p.ended_at >= ${from}::timestamptz and p.ended_at < ${to}::timestamptz`,
  ];
  if (client !== null) conditions.push(sql`p.client = ${client}`);
  if (alsoProxied !== null)
    conditions.push(alsoProxied ? sql`exists (${CALLS})` : sql`not exists (${CALLS})`);
  const beyond = after
    ? sql`having (max(p.ended_at), p.session) < (${after.lastAt}::timestamptz, ${after.session}::text collate "C")`
    : sql``;
  const rows = await db.execute<Omit<AgentSessionView, "first_at" | "last_at"> & Times>(sql`
    with s as (
      select p.org_id, p.session, min(p.client) as client, min(p.ended_at) as first_at, max(p.ended_at) as last_at,
        coalesce(sum(p.tokens) filter (where p.kind in ('input', 'cache_read', 'cache_write', 'output')), 0)
          as total_tokens, sum(p.cost_usd) as estimated_cost_usd, bool_or(${sql.raw(isUncertainPoint("p"))}) as uncertain
      from agent_points p where ${sql.join(conditions, sql` and `)}
      group by p.org_id, p.session ${beyond}
      order by max(p.ended_at) desc, p.session desc limit ${limit}
    )
    select s.session, s.client, s.first_at, s.last_at, s.total_tokens::float8, s.estimated_cost_usd::text,
      s.uncertain as estimate_is_lower_bound, q.requests > 0 as also_proxied, q.requests::integer as gateway_requests,
      q.cost_usd::text as gateway_cost_usd
    from s cross join lateral (
      select count(*) as requests, sum(r.cost_usd) filter (where r.channel <> 'subscription') as cost_usd
      from requests r where ${callsOf(sql`s.session`)}
    ) q
    order by s.last_at desc, s.session desc`);
  return rows.map((row) => ({
    ...row,
    first_at: new Date(row.first_at).toISOString(),
    last_at: new Date(row.last_at).toISOString(),
  }));
}
