import type { AnswerRow } from "../assemble.ts";
import { parameters, type Query } from "../parameters.ts";
import type { Periods } from "../window.ts";
import type { Reach } from "./cover.ts";
import { EVERYTHING } from "./kinds.ts";
import { withinSql } from "./spans.ts";

/**
 * Asks how far rollups reach, of how many records of the periods they tell (or of `enough` of them), and whether single
 * records of the periods are dropped. No row where there are no rollups.
 */
export function surveyQuery(orgId: string, { current, previous }: Periods, enough: number): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const periods = [current, ...(previous ? [previous] : [])];
  const within = (column: string) => periods.map((period) => withinSql(column, period, params)).join(" or ");
  // The first hour is one look into the index; whether there is any, the server would ask of every hour.
  const isDropped = periods.map(({ fromMs, toMs }) => {
    const since = fromMs === null ? "" : ` and h.hour >= ${params.instant(fromMs)}`;
    return `(select min(h.hour) from rollup_hours h where h.org_id = ${org}${since}) < least(${params.instant(toMs)}, s.raw_from)`;
  });
  const text = `select (extract(epoch from s.rolled_to) * 1000)::bigint::text as rolled_to,
  (extract(epoch from s.raw_from) * 1000)::bigint::text as raw_from,
  (extract(epoch from s.hours_from) * 1000)::bigint::text as hours_from,
  (s.sums_to is not null)::text as few,
  (s.raw_from is not null and (${isDropped.join("\n    or ")}))::text as dropped,
  (select array_agg(distinct (extract(epoch from date_trunc('hour', m.hour, 'UTC')) * 1000)::bigint) from rollup_marks m
    where m.org_id = ${org} and m.hour < s.rolled_to)::text as marked,
  (case when d.records >= ${params.add(String(Math.min(enough, Number.MAX_SAFE_INTEGER)), "bigint")} then d.records
    else d.records + coalesce((select sum(h.records) from rollup_hours h where h.org_id = ${org}
      and h.hour >= date_trunc('day', s.rolled_to, 'UTC') and (${within("h.hour")})), 0) end)::text as records
from rollup_state s
cross join lateral (
  select coalesce(sum(d.records), 0) as records from rollup_sums d
  where d.org_id = ${org} and d.kind = 'total' and d.scope = '${EVERYTHING}' and d.grain = 'day' and (${within("d.at")})
) d
where s.org_id = ${org}`;
  return { text, params: params.values };
}

export const isDropped = ([row]: readonly AnswerRow[]): boolean => row?.["dropped"] === "true";

/** How far rollups reach, where they are worth asking: single records tell of fewer than `enough` at once, and exactly. */
export function reachOf(survey: readonly AnswerRow[], enough: number): Reach | null {
  const [row] = survey;
  if (!row || (!isDropped(survey) && Number(row["records"]) < enough)) return null;
  const marked = ((row["marked"] ?? "").match(/-?\d+/g) ?? []).map(Number);
  return {
    rolledToMs: Number(row["rolled_to"]),
    rawFromMs: row["raw_from"] ? Number(row["raw_from"]) : null,
    hoursFromMs: row["hours_from"] ? Number(row["hours_from"]) : null,
    hasFew: row["few"] === "true",
    markedMs: marked.sort((a, b) => a - b),
  };
}
