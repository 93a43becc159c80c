import { BEFORE_SUMMING } from "#drizzle/hour-sums.ts";
import { DAY_MS } from "../../reports/rollup/cover.ts";
import { WHOLE } from "../clickhouse/identity.ts";
import { NEVER_ROLLED, type RollupState, type Sql, type Turn } from "./rollup-writer.ts";
import { sumUpDay } from "./sum-up-day.ts";

const iso = (ms: number): string => new Date(ms).toISOString();
const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** Sums for reports end before a day; those that ended before it stay so. */
export const endSums = (sql: Sql, orgId: string, dayMs: number) => sql`
  update rollup_state set sums_to = least(sums_to, ${iso(dayMs)}) where org_id = ${orgId}`;

/**
 * Once ClickHouse has every row, reports need no sums here. Without ClickHouse they do again: those of days whose single records
 * are dropped are made of cells, one day at a time, and then all later ones as if for the first time. True: there is more to do.
 */
export async function switchSums(
  sql: Sql,
  { orgId, rolledToMs, rawFromMs, sumsToMs, hoursFromMs }: RollupState & { orgId: string },
  clickhouse: boolean | undefined,
): Promise<boolean> {
  if (clickhouse === undefined || clickhouse === (sumsToMs !== null)) return false;
  if (sumsToMs === null) {
    const [whole] = await sql.unsafe(WHOLE);
    if (whole) await endSums(sql, orgId, dayOf(rolledToMs));
    return whole !== undefined;
  }
  const [next] = await sql<{ at: string }[]>`
    select (extract(epoch from min(hour)) * 1000)::bigint::text as at from rollup_hours
    where org_id = ${orgId} and hour >= ${iso(sumsToMs)} and hour < ${rawFromMs === null ? null : iso(rawFromMs)}`;
  if (next?.at == null) {
    await forget(sql, orgId, sumsToMs);
    await sql`update rollup_state set sums_to = null where org_id = ${orgId}`;
    return true;
  }
  const dayMs = dayOf(Number(next.at));
  await sql.unsafe(BEFORE_SUMMING);
  await sumUpDay(sql, {
    orgId,
    dayMs,
    fromMs: dayMs >= hoursFromMs ? dayMs : null,
    isWhole: true,
    isFew: false,
  });
  await sql`update rollup_state set sums_to = ${iso(dayMs + DAY_MS)} where org_id = ${orgId}`;
  return true;
}

/** Deletes rollups that can be rebuilt: those of hours whose single records exist. */
export async function forget(sql: Sql, orgId: string, fromMs: number | null): Promise<Turn> {
  const from = fromMs === null ? NEVER_ROLLED : iso(fromMs);
  const day = from.slice(0, 10);
  await sql`delete from rollup_hours where org_id = ${orgId} and hour >= ${from}`;
  await sql`delete from rollup_sums where org_id = ${orgId} and at >= ${from}`;
  await sql`delete from rollup_sessions where org_id = ${orgId} and day >= ${day}`;
  await sql`
    update rollup_state set rolled_to = ${from}, sums_to = case when sums_to is not null then least(sums_to, ${from}) end
    where org_id = ${orgId}`;
  return "more";
}
