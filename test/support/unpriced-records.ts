import type postgres from "postgres";

/** Stores calls of `dear-model` at `echo` without a price, a second apart, with ids of their time; each has one input token and one output token. */
export const storeUnpriced = (
  sql: postgres.ISql,
  records: number,
  from: string,
): postgres.PendingQuery<postgres.Row[]> => sql`
  insert into requests (id, started_at, surface, channel, state, streamed, attempts, route, route_source, provider,
    model, key_id, client, tags, usage_source, uncached_input_tokens, input_tokens, output_tokens, unpriced, partial)
  select overlay(gen_random_uuid()::text placing
      regexp_replace(lpad(to_hex((extract(epoch from ${from}::timestamptz) * 1000)::bigint + n * 1000), 12, '0'), '(.{8})', '\\1-') || '-7'
      from 1 for 15)::uuid, ${from}::timestamptz + n * interval '1 second', 'chat.completions', 'api', 'ok', false, 1,
    '(direct)', 'direct', 'echo', 'dear-model', gen_random_uuid(), 'test', '{}', 'provider', 1, 1, 1, true, false
  from generate_series(0, ${records}::integer - 1) as n`;
