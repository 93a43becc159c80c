import type { Parameters } from "../parameters.ts";
import { coverOf, type Span, type Survey } from "./cover.ts";

/** Whether an instant lies in one of the spans. */
export function spansSql(column: string, spans: readonly Span[], params: Parameters): string {
  if (spans.length === 0) return "false";
  return spans.map((span) => boundsSql(column, span, params)).join(" or ");
}

export function boundsSql(column: string, { fromMs, toMs }: Span, params: Parameters): string {
  const bounds = [
    ...(Number.isFinite(fromMs) ? [`${column} >= ${params.instant(fromMs)}`] : []),
    ...(Number.isFinite(toMs) ? [`${column} < ${params.instant(toMs)}`] : []),
  ];
  return bounds.length > 0 ? `(${bounds.join(" and ")})` : "true";
}

/** Whatever the gateway recorded, as sums where there are sums: what outcomes need of their sessions. */
export function recordsOfSessions(survey: Survey, params: Parameters): string {
  const ever = { fromMs: null, toMs: Number.POSITIVE_INFINITY };
  const { hours, raw } = coverOf(ever, survey, false);
  const columns = "org_id, session, owner, user_label, key_id, channel, cost_usd";
  return `(
    select ${columns}, uncertain > 0 as uncertain from rollup_hours where ${spansSql("hour", hours, params)}
    union all
    select ${columns}, unpriced or partial or cost_usd is null from requests
    where ${spansSql("started_at", raw, params)}
  )`;
}
