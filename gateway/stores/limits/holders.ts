import type postgres from "postgres";
import { SLOT_MS, SLOTS_COUNTED } from "../../limits/window.ts";

/** Longer than any budget period: older holds are leftovers. */
const PERIOD_DAYS_MAX = 93;
/** How long a key's view shows calls let through while the database was away. */
const AWAY_DAYS = 30;

/** Registers this process as alive. Resolves with the number of live processes and the uptime of Postgres. */
export async function heartbeat(sql: postgres.Sql, holder: string): Promise<{ alive: number; upMs: number }> {
  await sql`insert into limit_holders (holder, seen_at) values (${holder}, now())
    on conflict (holder) do update set seen_at = excluded.seen_at`;
  const [row] = await sql<{ alive: number; upMs: number }[]>`
    select count(*)::int as alive,
      extract(epoch from now() - pg_postmaster_start_time())::float8 * 1000 as "upMs"
    from limit_holders where seen_at > now() - interval '15 seconds'`;
  return row ?? { alive: 1, upMs: 0 };
}

/**
 * Frees holds of processes without a heartbeat for 40 s, and holds of this process without a running call. Holds of ended
 * calls stay: their cost is known, and storing their records removes them. So do those of calls that a crash interrupted,
 * at the most that these may cost, until their records say more.
 */
export async function sweep(sql: postgres.Sql, holder: string, running: readonly string[]): Promise<void> {
  const alive = sql`select holder from limit_holders where seen_at > now() - interval '40 seconds'`;
  await sql`update limit_holds set ended = true where not ended and usd > 0 and holder not in (${alive})`;
  await sql`delete from limit_holds where not ended and (
      holder not in (${alive})
      or (holder = ${holder} and call_id <> all(${[...running]}::text[]::uuid[])))
    or started_at < now() - make_interval(days => ${PERIOD_DAYS_MAX})`;
  // A slice of a budget lasts an outage: longer than the process that has it draws on it without a heartbeat.
  await sql`delete from limit_leases
    where holder not in (select holder from limit_holders where seen_at > now() - interval '65 minutes')`;
  await sql`delete from limit_holders where seen_at < now() - interval '2 hours'`;
  await sql`delete from limit_away where minute < now() - make_interval(days => ${AWAY_DAYS})`;
  await sql`delete from limit_rates
    where slot < floor(extract(epoch from clock_timestamp()) * ${1000 / SLOT_MS}::int) - ${SLOTS_COUNTED + 1}::int`;
}
