import { DAY_MS } from "../../reports/rollup/cover.ts";
import {
  FORGET_DAY_SUMS,
  FORGET_HOUR_SUMS,
  FORGET_SESSIONS,
  MARK_AGAIN,
  NUMBER_PEOPLE,
  ROLL_DAY_SUMS,
  ROLL_FEW,
  ROLL_HOUR_SUMS,
  ROLL_SESSIONS,
} from "../../reports/rollup/roll.ts";
import type { Sql } from "./rollup-writer.ts";

/**
 * `fromMs`: the first hour that was made or changed; null: its hours are not kept. `isWhole`: all of its hours are rolled up.
 * `isFew`: no report reads its sums.
 */
type Day = { orgId: string; dayMs: number; fromMs: number | null; isWhole: boolean; isFew: boolean };

/** Makes everything of a day that is made of its cells of hours. */
export async function sumUpDay(sql: Sql, { orgId, dayMs, fromMs, isWhole, isFew }: Day): Promise<void> {
  const span = (startMs: number) => [
    orgId,
    ...[startMs, dayMs + DAY_MS].map((ms) => new Date(ms).toISOString()),
  ];
  const [whole, day] = [span(dayMs), span(dayMs).slice(0, 2)];
  const { hours, days } = isFew ? ROLL_FEW : { hours: ROLL_HOUR_SUMS, days: ROLL_DAY_SUMS };
  for (const statement of [FORGET_SESSIONS, ROLL_SESSIONS, ...(isFew ? [] : [MARK_AGAIN, NUMBER_PEOPLE])]) {
    await sql.unsafe(statement, day);
  }
  for (const statement of fromMs === null ? [] : [FORGET_HOUR_SUMS, ...hours]) {
    await sql.unsafe(statement, span(fromMs ?? dayMs));
  }
  for (const statement of [FORGET_DAY_SUMS, ...(isWhole ? days : [])]) {
    await sql.unsafe(statement, whole);
  }
}
