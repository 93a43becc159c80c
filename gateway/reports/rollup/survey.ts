import { parameters, type Query } from "../parameters.ts";
import type { Periods } from "../window.ts";
import { coverOf, DAY_MS, down, HOUR_MS, type Span, type Survey } from "./cover.ts";
import { IN_TOTAL, IS_UNKNOWN } from "./gaps.ts";
import { spansSql, withinSql } from "./spans.ts";

/** When the first record, the first with a session, and the first with a tag began, in milliseconds; null is never. */
export function firstsQuery(orgId: string, survey: Survey): Query {
  const params = parameters();
  const { sums, days, hours, raw } = coverOf({ fromMs: null, toMs: Number.POSITIVE_INFINITY }, survey, true);
  const org = params.add(orgId, "text");
  const firsts = "first_at, first_session_at, first_tag_at";
  const within = (column: string, spans: readonly Span[]) =>
    `org_id = ${org} and (${spansSql(column, spans, params)})`;
  // A day has its row once it is whole, and its hours before.
  const lastDayMs = sums && down(DAY_MS, sums.toMs);
  const whole = sums && lastDayMs !== null ? [{ ...sums, toMs: lastDayMs }] : [];
  const rest = sums && lastDayMs !== null ? [{ ...sums, fromMs: Math.max(sums.fromMs, lastDayMs) }] : [];
  const cell = (at: string) =>
    `${at}, case when session is not null then ${at} end, case when cardinality(tags) > 0 then ${at} end`;
  const ms = (name: string) => `(extract(epoch from min(${name})) * 1000)::bigint::text`;
  const text = `select ${ms("record")} as record, ${ms("session")} as session, ${ms("tag")} as tag
from (select ${firsts} from rollup_days where kind = 'total' and ${within("day", whole)}
  union all select ${firsts} from rollup_hourly where kind = 'total' and ${within("hour", rest)}
  union all select ${cell("first_at")} from rollup_sessions where ${within("day", days)}
  union all select ${cell("first_at")} from rollup_hours where ${within("hour", hours)}
  union all select ${cell("started_at")} from requests where ${within("started_at", raw)}
) f (record, session, tag)`;
  return { text, params: params.values };
}

/** What quarters must agree in with their hour: a gateway of another version may have changed the one without the other. */
const CHECKED = [
  "records",
  "unpriced",
  "uncertain",
  "input_tokens",
  "output_tokens",
  "latency_sum",
  "cost_usd",
];

/**
 * Asks how far rollups reach, of how many records of the periods they tell, or of `enough` of them, and whether single
 * records of the periods are gone. No row where there are no rollups.
 */
export function surveyQuery(orgId: string, { current, previous }: Periods, enough: number): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const periods = [current, ...(previous ? [previous] : [])];
  const within = (column: string) => periods.map((period) => withinSql(column, period, params)).join(" or ");
  const cuts = periods.map(({ toMs }) => `(${params.instant(down(HOUR_MS, toMs))})`).join(", ");
  const checked = CHECKED.map((name) => `sum(q.${name})`).join(", ");
  const text = `with state as (select * from rollup_state where org_id = ${org})
select (extract(epoch from s.rolled_to) * 1000)::bigint::text as rolled_to,
  (extract(epoch from s.summed_to) * 1000)::bigint::text as summed_to,
  (extract(epoch from s.raw_from) * 1000)::bigint::text as raw_from, s.weeks_to::text as weeks_to,
  (s.raw_from is not null and (s.summed_to < s.rolled_to or exists (select 1 from rollup_hourly h
    where h.org_id = ${org} and h.kind = 'total' and h.hour < s.raw_from and (${within("h.hour")}))))::text as gone,
  (select array_agg(distinct (extract(epoch from date_trunc('hour', m.hour, 'UTC')) * 1000)::bigint) from rollup_marks m
    where m.org_id = ${org} and m.hour < s.rolled_to)::text as marked,
  (case when d.records >= ${params.add(String(Math.min(enough, Number.MAX_SAFE_INTEGER)), "bigint")} then d.records
    else d.records + coalesce((select sum(h.records) from rollup_hourly h where h.org_id = ${org} and h.kind = 'total'
        and h.hour >= date_trunc('day', s.summed_to, 'UTC') and (${within("h.hour")})), 0)
      + coalesce((select sum(h.records) from rollup_hours h
        where h.org_id = ${org} and h.hour >= s.summed_to and (${within("h.hour")})), 0)
    end)::text as records,
  (select array_agg((extract(epoch from c.hour) * 1000)::bigint) from (values ${cuts}) c(hour)
    cross join lateral (select ${checked} from rollup_quarters q
      where q.org_id = ${org} and q.kind = 'total' and q.at >= c.hour and q.at < c.hour + interval '1 hour') q(${CHECKED.join(", ")})
    cross join lateral (select ${checked} from rollup_hourly q
      where q.org_id = ${org} and q.kind = 'total' and q.hour = c.hour) h(${CHECKED.join(", ")})
    where c.hour < s.rolled_to and ${CHECKED.map((name) => `q.${name} is not distinct from h.${name}`).join(" and ")}
  )::text as quartered,
  (select array_agg((extract(epoch from d.day) * 1000)::bigint) from (
      select (c.hour at time zone 'UTC')::date from (values ${cuts}) c(hour)
      union select (s.rolled_to at time zone 'UTC')::date
      union select (s.summed_to at time zone 'UTC')::date
      union select (m.hour at time zone 'UTC')::date from rollup_marks m where m.org_id = ${org} and m.hour < s.rolled_to
    ) d(day)
    where (select count(*) from rollup_gaps g
      where g.org_id = ${org} and ${IN_TOTAL} and g.day = d.day and ${IS_UNKNOWN}) = 0
  )::text as firsts
from state s
cross join lateral (
  select coalesce(sum(d.records), 0) as records from rollup_days d
  where d.org_id = ${org} and d.kind = 'total' and (${within("d.day")})
) d`;
  return { text, params: params.values };
}
