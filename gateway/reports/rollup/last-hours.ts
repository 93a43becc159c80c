import type { Context, Section } from "./context.ts";
import { reachesOf } from "./context.ts";
import { down, HOUR_MS } from "./cover.ts";
import { BILLED, KINDS, TAG_ROWS } from "./kinds.ts";

/**
 * The table `last_hours`, where active hours are counted: the sessions of the hour in which a window's sums end, by value
 * of their kind. In a window of the past it is cut, and those are in it who were active before its end; in the hour that
 * runs those of whom its sums tell.
 */
export function lastHoursSql(context: Context): string[] {
  const { ask, params, kind, entities } = context;
  if (!entities.includes("hour")) return [];
  const hours = reachesOf(context).flatMap(({ current, span, told }) => {
    if (!told && span.toMs % HOUR_MS === 0) return [];
    const hour = params.instant(down(HOUR_MS, told?.fromMs ?? span.toMs));
    const before = told ? ` and r.first_at < ${params.instant(told.toMs)}` : "";
    return [
      `
  select ${current} as current, r.session, (${KINDS[kind ?? "total"]})::text as value, bool_or(${BILLED}) as billed
  from (select c.*, true as attributed from rollup_hours c) r ${kind === "tag" ? TAG_ROWS : ""}
  where r.org_id = ${params.add(ask.orgId, "text")} and r.hour = ${hour} and r.session is not null${before}
  group by 2, 3`,
    ];
  });
  return hours.length > 0 ? [`last_hours as materialized (${hours.join("\n  union all")}\n)`] : [];
}

/** Those of a window as a section tells them apart. */
export const lastHourOf = ({ kind }: Context, section: Section, current: boolean): string =>
  section.kind === kind
    ? `(select session, value, billed from last_hours where current = ${current})`
    : `(select session, ''::text as value, bool_or(billed) as billed from last_hours where current = ${current} group by session)`;
