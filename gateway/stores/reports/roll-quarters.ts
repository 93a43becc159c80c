import { DAY_MS, down, HOUR_MS, type Span } from "../../reports/rollup/cover.ts";
import { FORGET_QUARTERS, ROLL_QUARTERS } from "../../reports/rollup/roll.ts";
import type { Sql, State } from "./rollup-writer.ts";

/** Makes the quarters of these hours anew of their single records. */
export async function rollQuarters(sql: Sql, orgId: string, { fromMs, toMs }: Span): Promise<void> {
  const span = [orgId, iso(fromMs), iso(toMs)];
  for (const statement of [FORGET_QUARTERS, ...ROLL_QUARTERS]) await sql.unsafe(statement, span);
}

/**
 * After an update of the tables: makes the quarters of the newest day before `beforeMs` that has an hour without them.
 * Returns that day, before which there may be others, or null where there is none. Hours whose single records are gone
 * need none, for no period cuts them.
 */
export async function rollQuartersBefore(
  sql: Sql,
  orgId: string,
  { rolledToMs, rawFromMs }: State,
  beforeMs: number,
): Promise<number | null> {
  const [row] = await sql<{ at: string | null }[]>`
    select (extract(epoch from max(h.hour)) * 1000)::bigint::text as at from rollup_hourly h
    where h.org_id = ${orgId} and h.kind = 'total' and h.hour < ${iso(Math.min(beforeMs, rolledToMs))}
      and h.hour >= ${iso(rawFromMs ?? FIRST_MS)} and not exists (
        select from rollup_quarters q where q.org_id = ${orgId} and q.kind = 'total'
          and q.at >= h.hour and q.at < h.hour + interval '1 hour')`;
  if (!row?.at) return null;
  const dayMs = down(DAY_MS, Number(row.at));
  const toMs = Math.min(down(HOUR_MS, Number(row.at)) + HOUR_MS, rolledToMs);
  await rollQuarters(sql, orgId, { fromMs: Math.max(dayMs, rawFromMs ?? dayMs), toMs });
  return dayMs;
}

/** Before any record. */
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const iso = (ms: number): string => new Date(ms).toISOString();
