import { rollQuartersBefore } from "./roll-quarters.ts";
import type { Sql, State, Turn } from "./rollup-writer.ts";
import { daysOfUnknownFirsts, noteFirsts } from "./sum-up-day.ts";

/**
 * After an update of the tables: makes what an earlier version did not make of days that it summed up, a day a turn, newest
 * first.
 */
export function olderSums(orgId: string): { turn(sql: Sql, state: State): Promise<Turn> } {
  /** Days of which it may not be known when everyone was active first; null: to be looked for. */
  let days: readonly string[] | null = null;
  /** Hours before may have no quarters yet: none where all are known to have them. */
  let quartersMs: number | null = Number.POSITIVE_INFINITY;

  async function firsts(sql: Sql): Promise<boolean> {
    const found = days ?? (await daysOfUnknownFirsts(sql, orgId));
    const day = found.at(-1);
    // One that fails is looked for again.
    days = null;
    if (day !== undefined) await noteFirsts(sql, orgId, day);
    days = found.slice(0, -1);
    return day !== undefined;
  }

  async function quarters(sql: Sql, state: State): Promise<boolean> {
    if (quartersMs === null) return false;
    quartersMs = await rollQuartersBefore(sql, orgId, state, quartersMs);
    return true;
  }

  return {
    turn: async (sql, state) => {
      if (await firsts(sql)) return "more";
      return (await quarters(sql, state)) ? "more" : "idle";
    },
  };
}
