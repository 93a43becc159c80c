import { DAY_MS, mondayOf } from "../../reports/rollup/cover.ts";
import { ROLL_GAPS_OF_WEEK } from "../../reports/rollup/gaps.ts";
import { ROLL_WEEK } from "../../reports/rollup/roll.ts";
import type { Sql, State } from "./rollup-writer.ts";

const WEEK_MS = 7 * DAY_MS;

/**
 * Sums up the next week of which all days are summed up, and so ends the weeks behind which there are none; returns
 * whether there was one, or none to be had for now. What changes in its days later changes it with them.
 */
export async function sumUpNextWeek(sql: Sql, orgId: string, state: State): Promise<boolean> {
  const endMs = mondayOf(Math.min(state.rolledToMs, state.summedToMs));
  if (state.weeksToMs >= endMs) return false;
  const [row] = await sql<{ day: string | null }[]>`
    select min(day)::text as day from rollup_days
    where org_id = ${orgId} and kind = 'total' and day >= ${dayOf(state.weeksToMs)} and day < ${dayOf(endMs)}`;
  const nextMs = row?.day ? mondayOf(Date.parse(row.day)) : null;
  const reached = dayOf(nextMs === null ? endMs : nextMs + WEEK_MS);
  await sql`update rollup_state set weeks_to = ${reached} where org_id = ${orgId}`;
  if (nextMs === null) return true;
  const week = [orgId, dayOf(nextMs)];
  for (const statement of [...ROLL_WEEK, ROLL_GAPS_OF_WEEK]) await sql.unsafe(statement, week);
  return true;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
