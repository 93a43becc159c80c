import { isUncertainPoint } from "#drizzle/schema/agent.ts";
import type { SourceName, Spec } from "#shared/report.ts";
import { callsAsOf } from "./as-of.ts";
import type { Summed } from "./buckets/columns.ts";
import type { Ask } from "./context.ts";
import { CLICKHOUSE, type Engine } from "./engines.ts";
import { outcomesSql } from "./outcomes.ts";
import type { Parameters } from "./parameters.ts";
import { cacheSavings, LIST_COST, WRITTEN } from "./savings.ts";
import { spreadSql } from "./spread.ts";

/** `calls`: a relation in the place of the table. */
type Wanted = {
  engine: Engine;
  spec: Pick<Spec, "measures">;
  calls?: string | undefined;
  more?: { columns: string; joins: string };
};

/**
 * A relation gives one row per record, with these columns beside those that its dimensions and measures name:
 * `org_id`, `started_at`, `person` (null for a service account), `run` (the session, where it
 * counts), `attributed` (whether owner, label and key are known), `metered` (false in the subscription lane),
 * `uncertain` (its cost is unknown or a lower bound).
 */
const requests = ({
  engine: { person, run, priced },
  spec: { measures },
  calls = "requests",
  more = { columns: "", joins: "" },
}: Wanted): string => `(
  select q.*, ${person("q")} as person, ${run("q")} as run, true as attributed,
    q.channel <> 'subscription' as metered, q.unpriced or q.partial or q.cost_usd is null as uncertain,
    q.cache_read_tokens as cached_tokens, (q.latency_ms is not null)::int as timed,
    case when q.state not in ('ok', 'client_gone') then coalesce(q.error_type, q.state) end as error,
    ${WRITTEN} as cache_write_tokens, ${LIST_COST} as at_list_usd, ${LIST_COST} - q.cost_usd as saved_usd${
      measures.includes("savings_cache_usd") ? `,\n    ${cacheSavings(priced)} as cache_saved_usd` : ""
    }${more.columns}
  from ${calls} q${more.joins}
)`;

/** Calls of tools. One that was denied never ran, and costs nothing; any other without a price is unpriced. */
const toolCalls = ({ engine: { person, run } }: Wanted): string => `(
  select c.org_id, c.started_at, ${person("c")} as person, ${run("c")} as run,
    true as attributed, true as metered, c.cost_usd is null and c.status <> 'denied' as uncertain, c.client, c.owner,
    c.user_label, c.key_id, c.teams, c.cost_center, c.channel, c.tags, c.session, c.server, c.tool, c.status,
    coalesce(c.error_cause, c.error_code) as error,
    c.cost_usd is null and c.status <> 'denied' as unpriced,
    case when c.status = 'denied' then coalesce(c.cost_usd, 0) else c.cost_usd end as cost_usd,
    false as partial, c.latency_ms, (c.latency_ms is not null)::int as timed
  from tool_calls c
)`;

/**
 * Points of agents' metrics, at their own time. Kinds that are parts of others (drizzle/schema/agent.ts) do not count
 * as input or output again. A duration without a count of operations gives no mean.
 */
const agentMetrics = ({ engine: { person, run } }: Wanted): string => `(
  select a.org_id, a.ended_at as started_at,
    ${person("a")} as person, ${run("a")} as run, true as attributed, true as metered,
    ${isUncertainPoint("a")} as uncertain, a.client, a.model, a.owner, a.user_label, a.key_id, a.teams, a.cost_center,
    a.session, a.operations,
    coalesce(a.provider, a.system) as provider, a.error_type as error,
    case when a.kind = 'reasoning' then a.tokens end as reasoning_tokens,
    case when a.kind in ('cache_write', 'written_input') then a.tokens end as cache_write_tokens,
    case when a.kind in ('input', 'cache_read', 'cache_write') then a.tokens end as input_tokens,
    case when a.kind = 'output' then a.tokens end as output_tokens,
    case when a.kind in ('cache_read', 'cached_input') then a.tokens end as cached_tokens, a.cost_usd,
    case when a.operations > 0 then a.duration_seconds * 1000 end as latency_ms, a.operations as timed
  from agent_points a
)`;

const RELATIONS = {
  requests,
  tool_calls: toolCalls,
  agent_metrics: agentMetrics,
} as const satisfies Partial<Record<SourceName, (wanted: Wanted) => string>>;

const ALL = { engine: CLICKHOUSE, spec: { measures: [] } };
/** Records of ClickHouse that are summed up, as relations. Calls of tools have none of the figures of others. */
export const RECORDS: Record<Summed, string> = {
  requests: requests(ALL),
  tool_calls: `(select *, ${["input_tokens", "output_tokens", "cache_read_tokens", "ttft_ms"].map((name) => `cast(null as Nullable(Int32)) as ${name}`).join(", ")},
    ${CLICKHOUSE.exact("''")} as token_cost_usd from ${toolCalls(ALL)})`,
};

/** Joins the key of a record `r`. */
export const KEY_NAMES = "\n  left join keys k on k.org_id = r.org_id and k.id = r.key_id";

/** The records of a source; `within` says of which instants `r.started_at` rows are wanted. */
export function relationOf(ask: Ask, params: Parameters, within: string): string {
  const { engine, spec } = ask;
  if (spec.source !== "outcomes")
    return RELATIONS[spec.source]({
      engine,
      spec,
      // A parameter that its statement does not use is refused.
      calls: spec.source === "requests" ? callsAsOf(ask, params) : undefined,
      more: spreadSql(ask, params),
    });
  return outcomesSql(ask, params, within.replaceAll("r.started_at", "o.started_at"));
}
