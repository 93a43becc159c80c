import { expect, test } from "bun:test";
import { connect } from "#drizzle/database.ts";
import { migrate } from "#drizzle/migrate.ts";
import { codeOf } from "#shared/error-code.ts";
import { migrationsUntil } from "#test/support/earlier-migrations.ts";
import { testDatabase, testSql } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

test("rows of an earlier version keep their meaning", async () => {
  const home = await testDatabase();
  const name = `old_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = connect(home.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  await admin.unsafe(`create database ${name}`);
  const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
  await migrate(url, migrationsUntil("0002_record_changes"));
  const sql = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const id = (last: number) => `00000000-0000-7000-8000-00000000000${last}`;
  await sql.unsafe(`
    insert into keys (id, name, owner, scopes, limits, created_at) values
      ('${id(1)}', 'laptop (ada@example.com)', 'ada@example.com', '{}', '{"budget_usd": "5"}', now()),
      ('${id(2)}', 'ci', null, '{}', '{"requests_per_minute": 5}', now());
    insert into teams (name, budget_usd, created_at, updated_at) values ('web', 5, now(), now()), ('api', null, now(), now());
    insert into session_links (session, of_session, counts, key_id, client, declared_at) values
      ('agent', 'task', true, '${id(1)}', 'cli', now()), ('robot', 'task', true, '${id(2)}', 'cli', now());
    insert into requests (id, started_at, surface, channel, state, status, streamed, attempts, route, route_source, key_id,
      owner, client, tags, usage_source, unpriced, partial, cost_usd)
    values ('${id(3)}', now(), 'chat.completions', 'api', 'ok', 200, false, 1, 'echo', 'model', '${id(1)}',
      'Ada@example.com', 'curl', '{}', 'provider', false, false, 0.25);
    insert into people (id, email, name, role, team, created_at, updated_at) values
      ('${id(4)}', 'ada@example.com', 'Ada', 'manager', 'web', now(), now());
    insert into sign_in_accounts (id, person_id, provider_id, account_id, created_at, updated_at) values
      ('${id(5)}', '${id(4)}', 'oidc', '17', now(), now());
    insert into admin_tokens (id, name, role, sha256, last_four, expires_at, created_at) values
      ('${id(6)}', 'far', 'manager', '\\x01', 'abcd', now() + interval '9 years', now()),
      ('${id(7)}', 'near', 'administrator', '\\x02', 'abcd', now() + interval '9 days', now());
    insert into reprice_jobs (id, from_at, to_at, dry_run, created_at, actor, unpriced_records, old_cost_usd, checked_records,
      last_started_at, last_id) values ('${id(8)}', '2026-10-01', '2026-11-01', false, now(), 'ada', 9, 1, 5, now(), '${id(3)}');
    insert into clickhouse_state (version) values (1);
    insert into tool_calls (origin, external_id, id, started_at, channel, status, rank, decided_at, key_id, client, tags)
    values ('o', 'call', '${id(9)}', '2026-10-01T10:20:30Z', 'hook', 'ok', 1, now(), '${id(2)}', 'cli', '{}');
    delete from clickhouse_state`);

  await migrate(url);

  expect([...(await sql`select name, own, limits from keys order by name`)]).toEqual([
    { name: "ci", own: false, limits: { requests_per_minute: 5 } },
    { name: "laptop (ada@example.com)", own: true, limits: { budget_usd: "5", unpriced: "allow" } },
  ]);
  const mark = { origin: "o", external_id: "call", started_at: "2026-10-01T10:00:00+00:00" };
  expect([...(await sql`select keys from clickhouse_marks where relation = 'tool_calls'`)]).toEqual([
    { keys: [mark] },
  ]);
  // Jobs go by another order now, so one under way begins again.
  expect([
    ...(await sql`select kind, records, checked_records, last_id, closed_months from (
    select *, unpriced_records as records from reprice_jobs) it`),
  ]).toEqual([{ kind: "reprice", records: 9, checked_records: 0, last_id: null, closed_months: [] }]);
  expect([...(await sql`select name, unpriced from teams order by name`)]).toEqual([
    { name: "api", unpriced: null },
    { name: "web", unpriced: "allow" },
  ]);
  expect([...(await sql`select session, declarer from session_links order by session`)]).toEqual([
    { session: "agent", declarer: "ada@example.com" },
    { session: "robot", declarer: id(2) },
  ]);
  expect([
    ...(await sql`select usd::text from key_spend where key_id = md5('person ada@example.com')::uuid`),
  ]).toEqual([{ usd: "0.25" }]);
  expect([...(await sql`select role, team, unmapped from people`)]).toEqual([
    { role: "manager", team: "web", unmapped: {} },
  ]);
  // The next start gives it the configured issuer.
  expect([...(await sql`select account_id, issuer, groups from sign_in_accounts`)]).toEqual([
    { account_id: "17", issuer: null, groups: [] },
  ]);
  const days = sql`round(extract(epoch from expires_at - now()) / 86400)::integer as days`;
  expect([...(await sql`select name, role, scopes, maker, ${days} from admin_tokens order by name`)]).toEqual(
    [
      { name: "far", role: "manager", scopes: null, maker: null, days: 90 },
      { name: "near", role: "administrator", scopes: null, maker: null, days: 9 },
    ],
  );
  await sql.end();
  await admin.unsafe(`drop database ${name} with (force)`);
  await admin.end();
});

test("an update waits for reports of the version before, which end", async () => {
  const home = await testDatabase();
  const name = `old_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = testSql(home.url);
  await admin.unsafe(`create database ${name}`);
  const url = home.url.replace(/\/t_[0-9a-f]+\?/, `/${name}?`);
  await migrate(url, migrationsUntil("0004_fourth"));
  const old = connect(url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  let updating: Promise<void> | undefined;
  const waits = async () =>
    (
      await admin`select 1 from pg_stat_activity
        where datname = ${name} and application_name = 'tallygate migrate' and wait_event_type = 'Lock'`
    ).length > 0;
  await old.begin(async (report) => {
    await report`select from rollup_state`;
    updating = migrate(url);
    await until(waits);
    // What the report reads next.
    expect(
      await report`select 1 from pg_locks l join pg_class c on c.oid = l.relation join pg_database d on d.oid = l.database
        where d.datname = current_database() and c.relname in ('rollup_hours', 'rollup_sums') and l.pid <> pg_backend_pid()`,
    ).toHaveLength(0);
    await report`select from rollup_hours, rollup_sums, rollup_distinct_deltas`;
    // Longer than one try lasts.
    await until(async () => !(await waits()));
  });
  await updating;
  expect(await old`select hours_from from rollup_state`).toHaveLength(0);
  await old.end();
  await admin.unsafe(`drop database ${name} with (force)`);
});

test("the version before, beside it, drops no month whose hours are not kept, as if a lock were held", async () => {
  const sql = testSql((await testDatabase()).url);
  const month = "2026-05-01T00:00:00Z";
  await sql`insert into rollup_state (org_id, rolled_to, raw_from, hours_from, hours_to)
    values ('default', '2026-06-30T00:00:00Z', '2026-04-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-04-30T00:00:00Z')`;
  const drop = async () =>
    await sql`update rollup_state set raw_from = greatest(raw_from, ${month}::timestamptz)`;
  expect(await drop().catch(codeOf)).toBe("55P03");
  await sql`update rollup_state set rolled_to = '2026-06-30T01:00:00Z', hours_to = ${month}`;
  expect(await drop()).toHaveProperty("count", 1);
});

test("the version before, beside it, moves a budget, and its past is counted again", async () => {
  const sql = testSql((await testDatabase()).url);
  const put = (account: number, usd: number) => sql`
    insert into budgets (name, kind, scope_id, account, amount_usd, period, mode, thresholds, unpriced, when_away, created_at, updated_at)
    values ('moved', 'tag', 'x', ${`00000000-0000-7000-8000-00000000000${account}`}, ${usd}, 'month', 'soft', '{}', 'allow', 'local', now(), now())
    on conflict (org_id, name) do update set account = excluded.account, amount_usd = excluded.amount_usd`;
  const summed = async () => (await sql`select past_summed_at is not null as it from budgets`)[0]?.["it"];
  await put(1, 5);
  await sql`update budgets set past_summed_at = now()`;
  await put(1, 6);
  expect(await summed()).toBe(true);
  await put(2, 6);
  expect(await summed()).toBe(false);
});
