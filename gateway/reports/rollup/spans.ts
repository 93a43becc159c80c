import type { Parameters } from "../parameters.ts";
import type { SessionParts } from "../relations.ts";
import type { Period } from "../window.ts";
import { dayOf } from "./context.ts";
import { coverOf, DAY_MS, type Span, type Survey } from "./cover.ts";

/** Whether an instant lies in one of the spans. */
export function spansSql(column: string, spans: readonly Span[], params: Parameters): string {
  if (spans.length === 0) return "false";
  return spans.map((span) => boundsSql(column, span, params)).join(" or ");
}

/** A day is the instant in which it begins; as a day it is compared several times as fast. */
export function boundsSql(column: string, { fromMs, toMs }: Span, params: Parameters): string {
  const bound = (ms: number) =>
    column === "day" ? params.add(dayOf(Math.ceil(ms / DAY_MS) * DAY_MS), "date") : params.instant(ms);
  const bounds = [
    ...(Number.isFinite(fromMs) ? [`${column} >= ${bound(fromMs)}`] : []),
    ...(Number.isFinite(toMs) ? [`${column} < ${bound(toMs)}`] : []),
  ];
  return bounds.length > 0 ? `(${bounds.join(" and ")})` : "true";
}

export const withinSql = (column: string, { fromMs, toMs }: Period, params: Parameters): string =>
  boundsSql(column, { fromMs: fromMs ?? Number.NEGATIVE_INFINITY, toMs }, params);

/** Where outcomes read the records of their sessions, whenever these ran. */
export function sessionParts(orgId: string, survey: Survey, params: Parameters): SessionParts {
  const ever = { fromMs: null, toMs: Number.POSITIVE_INFINITY };
  const { days, hours, raw } = coverOf(ever, survey, false);
  const columns = "session, owner, user_label, key_id, channel, cost_usd";
  const org = params.add(orgId, "text");
  const of = (table: string, within: string) =>
    `select ${columns}, uncertain > 0 as uncertain from ${table} where org_id = ${org} and (${within})`;
  const ofDays = of("rollup_sessions", spansSql("day", days, params));
  const ofHours = of("rollup_hours", spansSql("hour", hours, params));
  return {
    org,
    cells: (session) => `${ofDays} and session = ${session}
        union all ${ofHours} and session = ${session}`,
    records: `select ${columns}, unpriced or partial or cost_usd is null from requests
      where org_id = ${org} and (${spansSql("started_at", raw, params)})`,
  };
}
