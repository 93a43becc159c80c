import { DAY_MS } from "../../reports/rollup/cover.ts";
import {
  DAYS_OF_UNKNOWN,
  DAYS_OF_UNKNOWN_STEPS,
  FORGET_NOTES,
  LOOK_AT_NOTES,
  NOTE_AFTER,
  NOTE_BEFORE,
  NOTE_ELSEWHERE,
  NOTE_FIRSTS,
  NOTE_NOBODY,
  NOTE_STEPS,
  TAKE_STEPS,
} from "../../reports/rollup/gaps.ts";
import { KIND_NAMES } from "../../reports/rollup/kinds.ts";
import {
  FORGET_HOURLY,
  FORGET_SUMS,
  ROLL_CELLS,
  ROLL_DAY,
  ROLL_HOURLY,
  ROLL_WEEK,
} from "../../reports/rollup/roll.ts";
import { FORGET_SEEN, NOTE_SEEN } from "../../reports/rollup/seen.ts";
import type { Sql } from "./rollup-writer.ts";

/**
 * `known`: sums of it were made before. `fromMs`: the first of its hours that changed. `isWhole`: all of its hours are
 * rolled up. `isLast`: no later day is summed up.
 */
type Day = { known: boolean; fromMs: number; isWhole: boolean; isLast: boolean };

/** Makes of a day's hours what is made of hours. */
export async function sumUpDay(
  sql: Sql,
  orgId: string,
  dayMs: number,
  { known, fromMs, isWhole, isLast }: Day,
): Promise<void> {
  const day = [orgId, new Date(dayMs).toISOString().slice(0, 10)];
  const kinds = [...day, KIND_NAMES as string[]];
  const takes = (statement: string) => (statement.includes("$3") ? kinds : day);
  await sql.unsafe(BEFORE_SUMMING);
  if (known) await sql.unsafe(NOTE_BEFORE, day);
  else await sql.unsafe(NOTE_NOBODY);
  const hours = [orgId, ...[fromMs, dayMs + DAY_MS].map((ms) => new Date(ms).toISOString())];
  if (known) {
    for (const statement of FORGET_SUMS) await sql.unsafe(statement, takes(statement));
    await sql.unsafe(FORGET_HOURLY, [...hours, KIND_NAMES as string[]]);
  }
  for (const statement of ROLL_CELLS) await sql.unsafe(statement, day);
  for (const statement of ROLL_HOURLY) await sql.unsafe(statement, hours);
  if (isWhole) {
    await sql.unsafe(ROLL_DAY, kinds);
    for (const statement of ROLL_WEEK) await sql.unsafe(statement, day);
  }
  await sql.unsafe(NOTE_AFTER, day);
  await sql.unsafe(LOOK_AT_NOTES);
  await sql.unsafe(NOTE_ELSEWHERE, day);
  await sql.unsafe(NOTE_STEPS, [...day, !isLast]);
  const unknown = await daysOf(sql, orgId, DAYS_OF_UNKNOWN_STEPS);
  for (const statement of TAKE_STEPS) await sql.unsafe(statement, [orgId]);
  if (known) await sql.unsafe(FORGET_SEEN, day);
  await sql.unsafe(NOTE_SEEN, day);
  await sql.unsafe(FORGET_NOTES);
  for (const date of unknown) await noteFirsts(sql, orgId, date);
}

/** The days, ascending, of which it is not known when everyone was active first: where an earlier version summed them up. */
export const daysOfUnknownFirsts = (sql: Sql, orgId: string): Promise<string[]> =>
  daysOf(sql, orgId, DAYS_OF_UNKNOWN);

const daysOf = async (sql: Sql, orgId: string, statement: string): Promise<string[]> =>
  (await sql.unsafe<{ day: string }[]>(statement, [orgId])).map(({ day }) => day);

/** Notes of a day that is summed up when everyone was active first. */
export async function noteFirsts(sql: Sql, orgId: string, date: string): Promise<void> {
  const day = [orgId, date];
  await sql.unsafe(BEFORE_SUMMING);
  await sql.unsafe(NOTE_NOBODY);
  await sql.unsafe(NOTE_AFTER, day);
  await sql.unsafe(LOOK_AT_NOTES);
  await sql.unsafe(NOTE_ELSEWHERE, day);
  await sql.unsafe(NOTE_STEPS, [...day, false]);
  await sql.unsafe(NOTE_FIRSTS, day);
  await sql.unsafe(FORGET_NOTES);
}

/** Many groups fit, none is worth compiling for, and young tables without statistics are not joined row by row. */
const BEFORE_SUMMING = "set local work_mem = '128MB'; set local jit = off; set local enable_nestloop = off";
