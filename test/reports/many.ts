import type postgres from "postgres";

const PEOPLE = 150;
const SESSIONS = 4_000;
const FROM = "2026-01-01T00:00:00Z";

/** One of these SQL values at random, `salt` by `salt` another one for each row; `null` among them is unknown. */
const oneOf = (...values: (string | null)[]): string =>
  `(array[${values.map((value) => (value === null ? "null" : `'${value}'`)).join(", ")}]::text[])[1 + floor(random() * ${values.length})::int]`;
const upTo = (max: number, unknown = 0.1): string =>
  `case when random() > ${unknown} then floor(random() * ${max})::int end`;
const usd = (unknown: number): string =>
  `case when random() > ${unknown} then round((random() * random() * 3)::numeric, 2 + floor(random() * 20)::int) end`;
/** Few values are usual, and most are rare. */
const latency = "case when random() > 0.1 then exp(random() * 11)::int end";
const at = "'2026-01-01T00:00:00Z'::timestamptz + random() * random() * interval '90 days'";

/** What a call, a tool call and a point of metrics have of who made them. */
const WHO = `'00000000-0000-7000-8000-00000000000' || floor(random() * 3)::int as key_id,
  case when random() > 0.2 then 'person-' || floor(random() * random() * ${PEOPLE})::int end as owner,
  case when random() < 0.2 then 'person-' || floor(random() * ${PEOPLE})::int end as user_label,
  string_to_array(${oneOf(null, "", "web,all", "api,web,all", "ops")}, ',') as teams,
  ${oneOf(null, "cc1", "cc2")} as cost_center,
  case when random() > 0.15 then 's' || floor(random() * ${SESSIONS})::int end as session,
  ${oneOf("cli", "ide", "ci", "unknown")} as client,
  string_to_array(${oneOf("", "x", "x,y", "y,z,z", "über,x")}, ',') as tags`;

const PRICES = [
  null,
  "input 17 0.000003|cache_read 900 0.0000003|cache_write_5m 40 0.00000375|output 5 0.000015|list:m1",
  "input 17 0.000003|cache_read 700 0.0000015|list:m1",
  "cache_read 900 0.0000003|output 5 0.000015|list:m1",
];

/**
 * Fills an organisation with so many calls from January on to `now`, a quarter as many of tools and points of metrics, and merges
 * and reviews of their sessions; whatever a record may lack, some lack. The same numbers follow from the same seed.
 */
export async function seedMany(
  sql: postgres.Sql,
  orgId: string,
  { calls, now, seed }: { calls: number; now: Date; seed: number },
) {
  // For as long as the connection lasts.
  await sql`set statement_timeout = 0`;
  await sql.begin(async (tx) => {
    await tx`select setseed(${seed / 2 ** 31})`;
    const run = (text: string) =>
      tx.unsafe(text.replaceAll("ORG", `'${orgId}'`).replaceAll("NOW", `'${now.toISOString()}'`));
    await run(`insert into keys (org_id, id, name, scopes, created_at) select ORG,
      ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'key ' || n, '{}', '${FROM}' from generate_series(0, 1) n`);
    await run(`insert into requests (org_id, id, started_at, surface, channel, state, error_type, provider, service_tier, streamed,
        attempts, route, route_source, model, key_id, owner, user_label, teams, cost_center, session, client, tags, latency_ms,
        ttft_ms, usage_source, input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_tokens,
        reasoning_tokens, cost_usd, token_cost_usd, cost_basis, list_cost_usd, unpriced, partial, price)
      select ORG, uuidv7(at - now()), at, surface, channel, state, error, provider, tier, true, 1, route, 'model', model,
        key_id::uuid, owner, user_label, teams, cost_center, session, client, tags, latency, latency / 7, 'provider', input,
        input / 3, written, written / 2, output, output / 2, cost, case when cost > 0.001 then cost - 0.001 end, basis, list, cost is null and random() < 0.8,
        random() < 0.05, to_jsonb(price) from (
      select date_trunc('milliseconds', ${at}) as at, ${oneOf("chat.completions", "messages")} as surface,
        ${oneOf("api", "api", "api", "subscription", "batch")} as channel,
        ${oneOf("ok", "ok", "ok", "client_gone", "upstream_error", "interrupted")} as state, ${oneOf(null, "upstream_500")} as error,
        ${oneOf(null, "openai", "bedrock")} as provider, ${oneOf(null, null, "priority", "flex")} as tier,
        ${oneOf("chat", "code", "(direct)")} as route, ${oneOf(null, "m1", "m2", "m3", "m4")} as model, ${WHO},
        ${latency} as latency, ${upTo(50_000)} as input, ${upTo(900, 0.6)} as written, ${upTo(4_000)} as output, ${usd(0.05)} as cost,
        ${oneOf(null, "contract", "vendor", "interactive", "batch")} as basis, ${usd(0.5)} as list, ${oneOf(...PRICES)} as price
      from generate_series(1, ${calls})) r where at < NOW`);
    await run(`insert into tool_calls (org_id, origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, owner,
        user_label, teams, cost_center, client, session, tags, server, tool, latency_ms, cost_usd, error_code, error_cause)
      select ORG, coalesce(owner, key_id), n::text, uuidv7(), at, channel, status, 1, at, key_id::uuid, owner, user_label, teams,
        cost_center, client, session, tags, server, tool, latency, cost, code, cause from (
      select n, date_trunc('milliseconds', ${at}) as at, ${oneOf("hook", "mcp")} as channel,
        ${oneOf("ok", "ok", "failed", "unknown", "denied", "pending")} as status, ${WHO}, ${oneOf(null, "files", "web")} as server,
        ${oneOf(null, "read", "write", "search")} as tool, ${latency} as latency, ${usd(0.4)} as cost, ${oneOf(null, null, "-32602")} as code,
        ${oneOf(null, null, "dns")} as cause from generate_series(1, ${calls >> 2}) n) t where at < NOW`);
    await run(`insert into agent_points (org_id, hash, key_id, owner, user_label, teams, cost_center, session, client, metric, kind, tokens,
        operations, duration_seconds, model, provider, system, error_type, cost_usd, unpriced, ended_at, received_at)
      select ORG, sha256(n::text::bytea), key_id::uuid, owner, user_label, teams, cost_center, session, client, 'm', kind,
        case when kind <> 'operations' then tokens end, case when kind = 'operations' then tokens % 3 end,
        case when kind = 'operations' then round(random()::numeric * 9, 6) end, model, provider, system, error, cost, cost is null, at, at from (
      select n, date_trunc('milliseconds', ${at}) as at, ${WHO},
        ${oneOf("input", "cache_read", "cache_write", "cached_input", "output", "reasoning", "operations", "total")} as kind, ${upTo(9_000)} as tokens,
        ${oneOf(null, "m1", "m2")} as model, ${oneOf(null, "openai")} as provider, ${oneOf(null, "anthropic")} as system,
        ${oneOf(null, null, "timeout")} as error, ${usd(0.3)} as cost from generate_series(1, ${calls >> 2}) n) t where at < NOW`);
    await run(`insert into repositories (org_id, id, full_name, former_names, changed_at)
      select ORG, n, 'acme/app-' || n, '[]', '${FROM}' from generate_series(1, 3) n`);
    await run(`insert into pull_requests (org_id, repository_id, number, state, merged_at, merge_commit_sha, link, session_ids, session,
        author_login, kind, additions, deletions, changed_files, reverts_by_branch, reverts_by_body, reverts_by_sha, evidence)
      select ORG, n % 4 + 1, n, 'merged', at, 'sha' || n, link, array[session], session, author, kind, size, 1, size % 30,
        case when random() < 0.05 then n - 4 end, '[]', '{}', '[]' from (
      select n, date_trunc('milliseconds', ${at}) as at, ${oneOf("joined", "joined", "joined", "unknown_session", "no_stamp", "conflict")} as link,
        's' || floor(random() * ${SESSIONS * 1.2})::int as session, ${oneOf(null, "Ann", "bob")} as author,
        ${oneOf(null, "change", "release", "backport")} as kind, ${upTo(1_500)} as size
      from generate_series(1, ${Math.ceil(calls / 50)}) n) t where at < NOW`);
    await run(`insert into reviews (org_id, repository_id, id, number, reviewer_login, submitted_at, dismissed, session_ids, session)
      select ORG, n % 4 + 1, n, n % 500, ${oneOf(null, "ann", "eve")}, at, random() < 0.1, '{}',
        case when random() > 0.2 then 's' || floor(random() * ${SESSIONS})::int end from (
      select n, date_trunc('milliseconds', ${at}) as at from generate_series(1, ${Math.ceil(calls / 80)}) n) t where at < NOW`);
  });
}
