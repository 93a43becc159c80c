import type { Parameters } from "../parameters.ts";
import type { Period } from "../window.ts";
import { DAY_MS, type Span, type SumsSpan } from "./cover.ts";

/** The UTC day of an instant; far before any record where there is no bound. */
export const dayOf = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : "0001-01-01";

/** Whether an instant lies in one of the spans. */
export const spansSql = (column: string, spans: readonly Span[], params: Parameters): string =>
  spans.map((span) => boundsSql(column, span, params)).join(" or ") || "false";

/** A `day` is the instant in which it begins; as a date it is compared several times as fast. */
function boundsSql(column: string, { fromMs, toMs }: Span, params: Parameters): string {
  const bound = (ms: number) =>
    column.endsWith("day") ? params.add(dayOf(Math.ceil(ms / DAY_MS) * DAY_MS), "date") : params.instant(ms);
  const bounds = [
    ...(Number.isFinite(fromMs) ? [`${column} >= ${bound(fromMs)}`] : []),
    ...(Number.isFinite(toMs) ? [`${column} < ${bound(toMs)}`] : []),
  ];
  return bounds.length > 0 ? `(${bounds.join(" and ")})` : "true";
}

/** The rows of `rollup_sums` that make up sums: one condition for days, and one for hours. */
export const sumsSql = ({ fromMs, midnightMs, toMs }: SumsSpan, params: Parameters): string[] => {
  const rows = [
    ["day", { fromMs, toMs: midnightMs }],
    ["hour", { fromMs: midnightMs, toMs }],
  ] as const;
  return rows
    .filter(([, span]) => span.fromMs < span.toMs)
    .map(([grain, span]) => `grain = '${grain}' and ${boundsSql("at", span, params)}`);
};

export const withinSql = (column: string, { fromMs, toMs }: Period, params: Parameters): string =>
  boundsSql(column, { fromMs: fromMs ?? Number.NEGATIVE_INFINITY, toMs }, params);
