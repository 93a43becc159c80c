import { FORGET_ACTIVE, NOTE_ACTIVE } from "../../reports/rollup/active-days.ts";
import {
  FORGET_EMPTY,
  FORGET_NOTES,
  LOOK_AT_NOTES,
  NOTE_AFTER,
  NOTE_BEFORE,
  NOTE_ELSEWHERE,
  NOTE_NOBODY,
  NOTE_STEPS,
  TAKE_STEPS,
} from "../../reports/rollup/distinct-deltas.ts";
import {
  FORGET_DAY,
  FORGET_HOUR_SUMS,
  ROLL_DAY_SUMS,
  ROLL_HOUR_SUMS,
  ROLL_SESSIONS,
} from "../../reports/rollup/roll.ts";
import type { Sql } from "./rollup-writer.ts";

/** `known`: sums of it were made before. `isWhole`: all of its hours are rolled up. `isLast`: no later day is summed up. */
type Day = { orgId: string; dayMs: number; known: boolean; isWhole: boolean; isLast: boolean };

/**
 * Makes a day's hours by `rollHours`, and of them everything that is made of hours. Returns how many records it rolled up:
 * without records now and before, nothing is written.
 */
export async function sumUpDay(
  sql: Sql,
  { orgId, dayMs, known, isWhole, isLast }: Day,
  rollHours: () => Promise<number>,
): Promise<number> {
  const day = [orgId, new Date(dayMs).toISOString().slice(0, 10)];
  await sql.unsafe(BEFORE_SUMMING);
  if (known) {
    await sql.unsafe(NOTE_BEFORE, day);
    for (const statement of FORGET_DAY) await sql.unsafe(statement, day);
  } else await sql.unsafe(NOTE_NOBODY);
  const records = await rollHours();
  if (records === 0 && !known) return 0;
  await sql.unsafe(ROLL_SESSIONS, day);
  await sql.unsafe(NOTE_AFTER, day);
  await sql.unsafe(LOOK_AT_NOTES);
  for (const statement of isWhole ? ROLL_DAY_SUMS : []) await sql.unsafe(statement, day);
  await sql.unsafe(NOTE_ELSEWHERE, day);
  await sql.unsafe(NOTE_STEPS, [...day, !isLast]);
  await sql.unsafe(TAKE_STEPS, [orgId]);
  if (known) {
    await sql.unsafe(FORGET_EMPTY, [orgId]);
    await sql.unsafe(FORGET_ACTIVE, day);
  }
  await sql.unsafe(NOTE_ACTIVE, day);
  await sql.unsafe(FORGET_NOTES);
  return records;
}

/** Makes the sums of hours of their cells. `span`: the organisation, the first hour, and the one after the last. */
export async function sumUpHours(sql: Sql, span: string[]): Promise<void> {
  for (const statement of [FORGET_HOUR_SUMS, ...ROLL_HOUR_SUMS]) await sql.unsafe(statement, span);
}

/**
 * Many groups fit, none is worth compiling for, and young tables without statistics are not joined row by row. Of notes it is
 * enough to know how many there are.
 */
const BEFORE_SUMMING = `set local work_mem = '128MB'; set local jit = off; set local enable_nestloop = off;
  set local default_statistics_target = 5`;
