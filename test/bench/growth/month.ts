import type postgres from "postgres";

/** A small organisation: what each day has besides calls. */
const WORLD = {
  people: 50,
  sessions: 60,
  pullRequests: 20,
  signIns: 50,
  bearers: 200,
  changes: 100,
  batches: 5,
};

/** Of the day that begins at $1; $2: calls. Each call is followed by a call of a tool. */
const CALLS = `
with made as (
  insert into requests (id, started_at, surface, channel, state, status, streamed, attempts, route, route_source, provider,
    model, response_model, key_id, owner, teams, cost_center, session, agent_session, client, tags, latency_ms, ttft_ms, usage_source,
    input_tokens, uncached_input_tokens, cache_read_tokens, output_tokens, cost_usd, token_cost_usd, unpriced, partial)
  select gen_random_uuid(), at, 'messages', 'api', 'ok', 200, true, 1, 'route-' || session % 4, 'model', 'anthropic',
    'model-' || n % 8, 'model-' || n % 8, md5('key ' || person)::uuid, 'person-' || person || '@example.com',
    array['team-' || person % 3], 'CC-' || person % 3, day || ' session ' || session, day || ' agent ' || session,
    'client-' || person % 5, array['tag-' || session % 10], 500 + n % 9000, 200 + n % 900, 'provider',
    n * 37 % 40000, n * 17 % 10000, n * 20 % 30000, n * 7 % 2000, (n * 37 % 40000) / 1e6, (n * 37 % 40000) / 1e6, n % 200 = 0, false
  from (
    select n, n % ${WORLD.sessions} as session, n % ${WORLD.sessions} % ${WORLD.people} as person, $1::text::date::text as day,
      date_trunc('milliseconds', $1::text::timestamptz + n * (interval '1 day' / ($2::int + 1))) as at
    from generate_series(1, $2::int) n
  ) calls returning *
)
insert into tool_calls (origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, owner, client, session, tags, tool)
select owner, id::text, gen_random_uuid(), started_at, 'hook', 'ok', 3, started_at, key_id, owner, client, session, tags, 'Bash' from made`;

const each = (count: number, into: string, columns: string, values: string): string =>
  `insert into ${into} (${columns}) select ${values} from (select $1::text::timestamptz as at, $1::text::date::text as day) d, generate_series(1, ${count}) n`;

const REST: readonly string[] = [
  each(
    WORLD.pullRequests,
    "pull_requests",
    "repository_id, number, state, author_login, merged_at, opened_at, body_at, link, session_ids, session, reverts_by_body, reverts_by_sha, evidence",
    "n % 5, extract(epoch from at)::int / 86400 * 100 + n, 'merged', 'person-' || n, at, at, at, 'joined', array[day || ' session ' || n], day || ' session ' || n, '[]', '{}', '[]'",
  ),
  ...["check", "comment"].map((kind) =>
    each(
      WORLD.pullRequests,
      "github_feedback",
      "kind, repository_id, number, remote_id, shown, shown_at, seen_at",
      `'${kind}', n % 5, extract(epoch from at)::int / 86400 * 100 + n, n, md5(n::text), at, at`,
    ),
  ),
  each(
    WORLD.pullRequests,
    "pull_request_commits",
    "repository_id, number, read_at, claims",
    "n % 5, extract(epoch from at)::int / 86400 * 100 + n, at, '[]'",
  ),
  each(
    WORLD.sessions,
    "session_links",
    "session, of_session, declarer, counts, key_id, client, declared_at",
    "day || ' agent ' || n, day || ' session ' || n, 'person-' || n, true, md5('key ' || n)::uuid, 'claude-code', at",
  ),
  each(
    WORLD.signIns,
    "person_sessions",
    "id, person_id, token_sha256, role, expires_at, created_at, updated_at",
    "gen_random_uuid(), md5('person ' || n)::uuid, gen_random_uuid()::text, 'member', at + interval '1 day', at, at",
  ),
  each(
    WORLD.bearers,
    "key_secrets",
    "id, key_id, sha256, last_four, expires_at, created_at",
    "gen_random_uuid(), md5('key ' || n)::uuid, gen_random_uuid()::text::bytea, 'abcd', at + interval '1 hour', at",
  ),
  each(
    WORLD.bearers,
    "refresh_tokens",
    "id, key_id, sha256, key_expires_at, created_at",
    "gen_random_uuid(), md5('key ' || n)::uuid, gen_random_uuid()::text::bytea, at + interval '30 days', at",
  ),
  each(
    WORLD.changes,
    "audit_entries",
    "id, at, actor, action, subject, before, after",
    `gen_random_uuid(), at, 'admin key', 'key.changed', n::text, '{"name": "a key"}', '{"name": "another"}'`,
  ),
  each(
    WORLD.batches,
    "files",
    "id, key_id, provider, purpose, filename, bytes, created_at, deleted_at, routes, models",
    "gen_random_uuid()::text, md5('key ' || n)::uuid, 'openai', 'batch', 'requests.jsonl', 1000000, at, at + interval '2 days', '{}', '{}'",
  ),
  each(
    WORLD.batches,
    "batches",
    "id, kind, key_id, provider, endpoint, completion_window, status, facts, created_at, record_id, started_at, routes, models, client, tags, next_check_at, reconciled_at",
    "gen_random_uuid()::text, 'lines', md5('key ' || n)::uuid, 'openai', '/v1/chat/completions', '24h', 'completed', '{}', at, gen_random_uuid(), at, '{}', '{}', 'c', '{}', at, at",
  ),
];

/** What a day leaves in the database. */
export async function liveDay(sql: postgres.Sql, day: string, calls: number): Promise<void> {
  await sql.unsafe(CALLS, [`${day}T00:00:00Z`, calls]);
  for (const statement of REST) await sql.unsafe(statement, [`${day}T12:00:00Z`]);
}
