import type postgres from "postgres";
import { addMonth, monthOf } from "#drizzle/partitions.ts";

const DAY_MS = 86_400_000;

export const SIZES = {
  days: 90,
  people: 2_000,
  sessions: 300_000,
  models: 40,
  routes: 12,
  clients: 30,
  keys: 400,
  tags: 50,
  tools: 40,
  teams: 12,
  divisions: 3,
  repositories: 40,
  pullRequests: 9_000,
  reviews: 4_000,
  points: 20_000,
} as const;

/**
 * Fills an empty database with `records` calls over the 90 days before `now`, as an organisation of 2,000 people makes
 * them: working hours and days, some people and models far more than others, a session keeping its person, client, tags
 * and, mostly, its model and route. Always the same for the same arguments.
 */
export async function generate(
  sql: postgres.Sql,
  records: number,
  now: Date,
  onDay?: (day: number) => void,
): Promise<void> {
  const firstMs = firstDayMs(now);
  for (let ms = firstMs; ms < now.getTime() + 31 * DAY_MS; ms += 28 * DAY_MS) {
    await sql.begin((tx) => addMonth(tx, monthOf(new Date(ms))));
  }
  const restore = await bare(sql);
  await generateSessions(sql, now);
  const perSession = records / SIZES.sessions;
  for (let day = 0; day < SIZES.days; day++) {
    await sql.unsafe(RECORDS, [day, perSession, now.toISOString()]);
    onDay?.(day);
  }
  await restore();
  await generateRest(sql, now);
  await sql.unsafe("drop table generated_sessions");
  await sql.unsafe("vacuum analyze");
}

const firstDayMs = (now: Date): number =>
  Math.floor(now.getTime() / DAY_MS) * DAY_MS - (SIZES.days - 1) * DAY_MS;

/** Keys, and the sessions that records are made of, in a table of their own: `generated_sessions`. */
async function generateSessions(sql: postgres.Sql, now: Date): Promise<void> {
  await sql`select setseed(0.42)`;
  await sql.unsafe(KEYS);
  await sql.unsafe(SESSIONS, [new Date(firstDayMs(now)).toISOString()]);
}

/** Everything but records of calls, and returns the sessions of which such records are made elsewhere. */
export async function generateWithoutRecords(
  sql: postgres.Sql,
  now: Date,
): Promise<Record<string, unknown>[]> {
  await generateSessions(sql, now);
  await generateRest(sql, now);
  return sql`
    select session, person, model, second_model, route, client, tag, lane, labelled, size,
      (extract(epoch from started_at) * 1000)::bigint::text as started_ms from generated_sessions`;
}

/** All that is not records of calls. */
async function generateRest(sql: postgres.Sql, now: Date): Promise<void> {
  await sql.unsafe(REPOSITORIES);
  await sql.unsafe(PULL_REQUESTS, [now.toISOString()]);
  await sql.unsafe(REVIEWS, [now.toISOString()]);
  await sql.unsafe(POINTS, [now.toISOString()]);
}

/** Takes away what makes writing slow: indexes and triggers of `requests`. Returns what brings them back. */
async function bare(sql: postgres.Sql): Promise<() => Promise<void>> {
  await sql`set synchronous_commit = off`;
  await sql`set maintenance_work_mem = '512MB'`;
  const [key] = await sql<{ name: string; definition: string }[]>`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = 'requests'::regclass and contype = 'p'`;
  if (!key) throw new Error("requests has no primary key");
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes
    where tablename = 'requests' and indexname <> ${key.name}`;
  for (const { name } of indexes) await sql.unsafe(`drop index "${name}"`);
  await sql.unsafe(`alter table requests drop constraint "${key.name}"`);
  await sql`alter table requests disable trigger user`;
  return async () => {
    await sql`alter table requests enable trigger user`;
    await sql.unsafe(`alter table requests add constraint "${key.name}" ${key.definition}`);
    for (const { definition } of indexes) await sql.unsafe(definition.replace(" ON ONLY ", " ON "));
  };
}

/** A few are used by many, and many by few. */
const skewed = (size: number): string => `floor(${size} * random() ^ 2.5)::int`;
/** About normal, from −1.5 to 1.5. */
const BELL = "(random() + random() + random() - 1.5)";
const person = "'person-' || lpad(person::text, 4, '0') || '@example.com'";
const keyId = (n: string) => `('00000000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;

/** A person's team, and its division, of which the first has half of the teams. */
const TEAMS = `array['team-' || person % ${SIZES.teams}, 'division-' || case when person % ${SIZES.teams} < ${SIZES.teams / 2} then 0 else 1 + person % ${SIZES.divisions - 1} end]`;

const KEYS = `
insert into keys (id, name, scopes, created_at)
select ${keyId("n")}, 'key-' || n, '{}'::jsonb, '2020-01-01' from generate_series(0, ${SIZES.keys - 1}) n`;

/** $1: the first day. Six sevenths of them on working days, most by day. */
const SESSIONS = `
create table generated_sessions as
select n, 'session-' || md5(n::text) as session, ${skewed(SIZES.people)} as person,
  ${skewed(SIZES.models)} as model, ${skewed(SIZES.models)} as second_model,
  ${skewed(SIZES.routes)} as route, ${skewed(SIZES.clients)} as client, ${skewed(SIZES.tags)} as tag,
  random() as lane, random() as labelled, -ln(1 - random()) as size, day, started_at
from (
  select n, day, $1::text::timestamptz + make_interval(days => day, secs => 86399 * least(0.97, greatest(0, 0.58 + 0.25 * ${BELL}))) as started_at
  from (
    select n, floor(${SIZES.days} * random())::int as day from generate_series(1, ${SIZES.sessions}) n
  ) d
) s
where extract(isodow from started_at) < 6 or random() < 0.3`;

/** $1: the day, $2: records of a session on average, $3: now. */
const RECORDS = `
insert into requests (org_id, id, started_at, surface, channel, state, status, streamed, attempts, route, route_source,
  provider, model, response_model, key_id, owner, user_label, teams, cost_center, session, client, tags, latency_ms, ttft_ms, usage_source,
  input_tokens, uncached_input_tokens, cache_read_tokens, output_tokens, cost_usd, token_cost_usd, unpriced, partial)
select 'default', uuidv7(started_at - now()), started_at, 'messages',
  case when lane < 0.07 then 'subscription' when lane < 0.1 then 'batch' else 'api' end, 'ok', 200, true, 1,
  'route-' || case when turn < 0.8 then route when turn < 0.96 then (route + 3) % ${SIZES.routes}
    else floor(${SIZES.routes} * random())::int end, 'model', 'echo',
  'model-' || model, 'model-' || model, ${keyId(`person % ${SIZES.keys}`)}, ${person}, null, ${TEAMS}, 'CC-' || person % ${SIZES.divisions}, session, 'client-' || client,
  case when labelled < 0.7 then array['team-' || tag] when labelled < 0.9
    then array['team-' || tag, 'project-' || (tag * 7 % ${SIZES.tags})] else '{}'::text[] end,
  latency, latency / 5, 'provider', input, input - input * 3 / 5, input * 3 / 5, output,
  case when unknown then null else cost end, case when unknown then null else cost end, unknown, false
from (
  select *, round((input * 3 + output * 15) * (1 + model % 7) / 1000000::numeric, 9) as cost, random() < 0.005 as unknown
  from (
    select s.session, s.person, s.route, s.client, s.tag, s.lane, s.labelled, random() as turn,
      case when random() < 0.8 then s.model when random() < 0.8 then s.second_model else ${skewed(SIZES.models)} end as model,
      date_trunc('milliseconds', s.started_at + random() * interval '100 minutes') as started_at,
      exp(7.6 + 1.1 * ${BELL})::int as latency, exp(8 + 1.6 * ${BELL})::int as input, exp(5.5 + 1.4 * ${BELL})::int as output
    from generated_sessions s
    cross join lateral generate_series(1, greatest(1, round(s.size * $2::float8 * 1.27))::int) r
    where s.day = $1::int
  ) t
) r
where started_at < $3::text::timestamptz order by started_at`;

const REPOSITORIES = `
insert into repositories (id, full_name, former_names, changed_at)
select n, 'acme/repository-' || n, '[]', '2020-01-01' from generate_series(1, ${SIZES.repositories}) n`;

/** Most are joined to the session that wrote them, a few hours after it. */
const PULL_REQUESTS = `
insert into pull_requests (repository_id, number, state, merged_at, link, session_ids, session, reverts_by_branch,
  reverts_by_body, reverts_by_sha, evidence)
select 1 + ${skewed(SIZES.repositories)}, row_number() over (), 'merged', merged_at,
  case when joined then 'joined' else 'no_stamp' end, case when joined then array[session] else '{}'::text[] end,
  case when joined then session end, null, '[]', '{}', '[]'
from (
  select session, started_at + random() * interval '2 days' as merged_at, random() < 0.85 as joined
  from generated_sessions order by md5(session) limit ${SIZES.pullRequests}
) p where merged_at < $1::text::timestamptz`;

const REVIEWS = `
insert into reviews (repository_id, id, number, submitted_at, session_ids, session)
select 1 + ${skewed(SIZES.repositories)}, row_number() over (), 1, submitted_at, array[session], session
from (
  select session, started_at + random() * interval '1 day' as submitted_at
  from generated_sessions order by md5('review' || session) limit ${SIZES.reviews}
) r where submitted_at < $1::text::timestamptz`;

const POINTS = `
insert into agent_points (hash, key_id, owner, session, client, metric, kind, tokens, operations, model, cost_usd,
  unpriced, ended_at, received_at)
select sha256(n::text::bytea), ${keyId(`n % ${SIZES.keys}`)}, 'person-' || lpad((n % ${SIZES.people})::text, 4, '0') || '@example.com',
  'session-' || md5((n % 5000)::text), 'client-' || (n % 3), 'gen_ai.client.token.usage',
  case n % 3 when 0 then 'input' when 1 then 'output' else 'operations' end,
  case when n % 3 < 2 then n % 5000 end, case when n % 3 = 2 then 1 end, 'model-' || (n % 5),
  case when n % 3 < 2 then (n % 5000) * 0.000003 end, false, at, at
from (
  select n, $1::text::timestamptz - random() * interval '${SIZES.days} days' as at from generate_series(1, ${SIZES.points}) n
) p`;
