import type { ClickHouseClient } from "@clickhouse/client";
import { NOW } from "./filled.ts";
import { SIZES } from "./generate.ts";

const WEEK_MS = 7 * 86_400_000;

const SESSIONS_TABLE = `create table generated_sessions (session String, person UInt32, model UInt16, second_model UInt16,
  route UInt16, client UInt16, tag UInt16, lane Float64, labelled Float64, size Float64, started_ms Int64)
engine = MergeTree order by started_ms`;

/** About uniform numbers in [0, 1) that differ by call and by `salt`. */
const random = (salt: number) => `((cityHash64(session, turn, ${salt}) % 1000000) / 1000000)`;
const bell = (salt: number) => `(${random(salt)} + ${random(salt + 1)} + ${random(salt + 2)} - 1.5)`;

/** As generate.ts makes records, of the sessions of a time. */
const recordsOf = (perSession: number, within: string): string => `
insert into requests (org_id, id, started_at, surface, channel, state, status, streamed, attempts, route, route_source,
  provider, model, response_model, key_id, owner, teams, cost_center, session, client, tags, latency_ms, ttft_ms, usage_source,
  input_tokens, uncached_input_tokens, cache_read_tokens, output_tokens, cost_usd, token_cost_usd, unpriced, partial, version)
select 'default', dateTimeToUUIDv7(toDateTime(at)), at, 'messages',
  multiIf(lane < 0.07, 'subscription', lane < 0.1, 'batch', 'api'), 'ok', 200, true, 1,
  'route-' || toString(multiIf(${random(2)} < 0.8, route, ${random(2)} < 0.96, (route + 3) % ${SIZES.routes}, turn % ${SIZES.routes})),
  'model', 'echo', 'model-' || toString(made), 'model-' || toString(made),
  toUUID('00000000-0000-7000-8000-' || leftPad(lower(hex(person % ${SIZES.keys})), 12, '0')),
  'person-' || leftPad(toString(person), 4, '0') || '@example.com',
  ['team-' || toString(person % ${SIZES.teams}), 'division-' || toString(if(person % ${SIZES.teams} < ${SIZES.teams / 2}, 0, 1 + person % ${SIZES.divisions - 1}))],
  'CC-' || toString(person % ${SIZES.divisions}), session, 'client-' || toString(client),
  multiIf(labelled < 0.7, ['team-' || toString(tag)], labelled < 0.9, ['team-' || toString(tag), 'project-' || toString(tag * 7 % ${SIZES.tags})], []),
  latency, intDiv(latency, 5), 'provider', input, input - intDiv(input * 3, 5), intDiv(input * 3, 5), output,
  if(${random(3)} < 0.005, null, cost), if(${random(3)} < 0.005, null, cost), ${random(3)} < 0.005, false, 1
from (
  select *, turn, fromUnixTimestamp64Milli(started_ms + toInt64(${random(1)} * 6000000), 'UTC') as at, toInt32(exp(7.6 + 1.1 * ${bell(10)})) as latency, toInt32(exp(8 + 1.6 * ${bell(20)})) as input,
    toInt32(exp(5.5 + 1.4 * ${bell(30)})) as output,
    multiIf(${random(4)} < 0.8, model, ${random(4)} < 0.96, second_model, toUInt16(${SIZES.models} * pow(${random(5)}, 2.5))) as made,
    toDecimal256(input * 3 + output * 15, 30) * (1 + made % 7) / 1000000 as cost
  from generated_sessions s array join range(toUInt32(greatest(1, round(s.size * ${perSession} * 1.27)))) as turn
  where ${within}
)
where started_ms < ${NOW.getTime()} - 6000000`;

/** Half as many calls of tools: a few tools are called far more than others, and a fourth of them are a server's. */
const TOOL_CALLS = `
insert into tool_calls (org_id, origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, owner, teams, cost_center,
  client, session, tags, server, tool, latency_ms, cost_usd, version)
select org_id, assumeNotNull(owner), toString(cityHash64(session, started_at, latency_ms)), generateUUIDv4(session), started_at, if(sipHash64(id) % 3 = 0, 'mcp', 'hook'),
  ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'failed', 'unknown', 'denied'][1 + sipHash64(id, 1) % 9], 1, started_at, key_id, owner, teams, cost_center,
  client, session, tags, if(called % 4 = 3, 'server-' || toString(intDiv(called, 4)), null), 'tool-' || toString(called), latency_ms, if(sipHash64(id) % 3 = 0, cost_usd / 10, null), 1
from (select *, toUInt16(${SIZES.tools} * pow(sipHash64(id, 2) % 1000000 / 1000000, 2.5)) as called from requests where rand() % 2 = 0)`;

/**
 * Fills `requests` of a database with about `perSession` records on average of each of the sessions that generate.ts made, a
 * week at a time, as batches come in the order of time.
 */
export async function generateIn(
  client: ClickHouseClient,
  sessions: readonly Record<string, unknown>[],
  perSession: number,
): Promise<void> {
  await client.command({ query: SESSIONS_TABLE });
  await client.insert({ table: "generated_sessions", values: [...sessions], format: "JSONEachRow" });
  const [bounds] = await (
    await client.query({
      query: "select min(started_ms) as low, max(started_ms) as high from generated_sessions",
      format: "JSONEachRow",
    })
  ).json<{ low: string; high: string }>();
  for (let ms = Number(bounds?.low ?? 0); ms <= Number(bounds?.high ?? 0); ms += WEEK_MS) {
    await client.command({
      query: recordsOf(perSession, `s.started_ms >= ${ms} and s.started_ms < ${ms + WEEK_MS}`),
    });
  }
  await client.command({ query: TOOL_CALLS });
}
