import type { AnswerRow } from "../assemble.ts";
import { type Ask, lateLabels } from "../plan.ts";
import { filtersOf } from "../spec.ts";
import type { Period } from "../window.ts";

/** Since when optional labels are recorded, in milliseconds since 1970; null: never. */
export type Since = { sinceMs: number | null };

/** What `firsts` (survey.ts) tells of the labels asked for; null where they were recorded from the start, or none are asked for. */
export function sinceOf({ spec }: Ask, firsts: AnswerRow): Since | null {
  const labels = lateLabels(spec).map((name) => firsts[name] ?? null);
  if (labels.length === 0) return null;
  const known = labels.flatMap((ms) => (ms === null ? [] : [Number(ms)]));
  const sinceMs = known.length === labels.length ? Math.max(...known) : null;
  const record = firsts["record"] ?? null;
  return sinceMs === (record === null ? null : Number(record)) ? null : { sinceMs };
}

/** The count of records that are older, with the filters that are not by these labels. */
export function askBefore(ask: Ask, { sinceMs }: Since): Ask {
  const late = lateLabels(ask.spec);
  const filters = Object.fromEntries(filtersOf(ask.spec.filters).filter(([name]) => !late.includes(name)));
  const before = ({ fromMs, toMs }: Period): Period => ({
    fromMs,
    toMs: Math.max(Math.min(toMs, sinceMs ?? toMs), fromMs ?? Number.NEGATIVE_INFINITY),
  });
  const { current, previous } = ask.periods;
  return {
    ...ask,
    spec: { ...ask.spec, dimensions: [], measures: ["requests"], filters },
    periods: { current: before(current), previous: previous && before(previous) },
  };
}

/** The row that a plan over single records answers. */
export const coverageRow = ({ sinceMs }: Since, [counted]: readonly AnswerRow[]): AnswerRow => ({
  since_ms: sinceMs === null ? null : String(sinceMs),
  rows_before: counted?.["c_records"] ?? "0",
  previous_rows_before: counted?.["p_records"] ?? "0",
});
