import { BILLED, isFine, KIND_NAMES, KINDS, LANE, TAG_ROWS, whoSql } from "./kinds.ts";
import { IS_SUMMED_WEEK, KEYS, weekOf } from "./roll.ts";
import { lastSeenSql, nextSeenSql } from "./seen.ts";

// The statements that tell who was active when, of a day's cells. Parameters: $1 is the organisation, $2 the day.

const ENTITIES = { person: "coalesce(r.user_label, r.owner)", session: "r.session" } as const;

/** The time of the day of an instant (UTC), in milliseconds. */
const timeSql = (instant: string): string =>
  `(extract(epoch from (${instant} at time zone 'UTC')::time) * 1000)::int`;

const FIRSTS = `${timeSql("min(r.first_at)")} as at, ${timeSql(`min(r.first_at) filter (where ${BILLED})`)} as billed_at`;

const activeOfDay = KIND_NAMES.flatMap((kind) =>
  (["person", "session"] as const).map(
    (entity) => `
select '${entity}' as entity, '${kind}' as kind, ${KINDS[kind]} as value, ${ENTITIES[entity]} as text, ${FIRSTS}
from (select c.*, true as attributed from ${isFine(kind) ? "rollup_cells" : "rollup_sessions"} c) r ${kind === "tag" ? TAG_ROWS : ""}
where r.org_id = $1::text and r.day = $2::date and ${ENTITIES[entity]} is not null
group by ${KINDS[kind]}, ${ENTITIES[entity]}`,
  ),
).join("\nunion all");

/** Who is active on the day, and from when on, as a table of this transaction. */
const noteActive = (table: string): string => `
create temporary table ${table} on commit drop as
select ${whoSql("entity", "kind", "value", "text")} as who, entity, kind, value, text, at, billed_at
from (${activeOfDay}) a`;

export const NOTE_BEFORE = noteActive("active_before");
export const NOTE_AFTER = noteActive("active_after");
/** For a day of which nothing was told before. */
export const NOTE_NOBODY = `create temporary table active_before (who uuid, entity text, kind text, value text, text text,
  at int, billed_at int) on commit drop`;
/** Without it the server takes them for tables of any size. */
export const LOOK_AT_NOTES = "analyze active_before, active_after";
export const FORGET_NOTES = "drop table active_before, active_after, cells_elsewhere, gap_steps";

/** Cells of other days of the sessions that are active on this one: few, for sessions are short. */
export const NOTE_ELSEWHERE = `
create temporary table cells_elsewhere on commit drop as
select h.*, true as attributed
from (
  select text from active_after where entity = 'session' and kind = 'total'
  union select text from active_before where entity = 'session' and kind = 'total'
) s
cross join lateral (
  select ${KEYS.join(", ")}, day, first_at from rollup_cells
  where org_id = $1::text and session = s.text and day <> $2::date
  offset 0
) h`;

/** When those were active first whom a table of cells tells of, by day and lane. */
const firstsOf = (entity: keyof typeof ENTITIES, table: string): string => `
    select f.who, f.day, l.lane, l.at from (${KIND_NAMES.map(
      (kind) => `
      select ${whoSql(`'${entity}'`, `'${kind}'`, KINDS[kind], ENTITIES[entity])} as who, r.day, ${FIRSTS}
      from ${table} r ${kind === "tag" ? TAG_ROWS : ""} group by 1, 2`,
    ).join("\n      union all")}
    ) f
    cross join lateral (values (${LANE.all}::smallint, f.at), (${LANE.billed}::smallint, f.billed_at)) l(lane, at)
    where l.at is not null`;

/** Whether somebody came or went. */
const MOVED = "$3::boolean and (c.was is null) <> (c.now_at is null)";

/**
 * What a change of who is active on the day changes: the rows of that day and, where somebody came or went, those of the
 * next day on which they are active. $3: whether there may be such a day.
 */
export const NOTE_STEPS = `
create temporary table gap_steps on commit drop as
with changed as (
  select coalesce(a.who, b.who) as who, coalesce(a.entity, b.entity) as entity, coalesce(a.kind, b.kind) as kind,
    coalesce(a.value, b.value) as value, coalesce(a.text, b.text) as text, l.lane, l.was, l.now_at
  from active_after a full join active_before b on a.who = b.who
  cross join lateral (values (${LANE.all}::smallint, b.at, a.at), (${LANE.billed}::smallint, b.billed_at, a.billed_at)) l(lane, was, now_at)
  where l.was is distinct from l.now_at
), sessions as materialized (${firstsOf("session", "cells_elsewhere")}
), around as materialized (
  select c.*,
    (${lastSeenSql("$1::text", "c.who", "c.lane", "$2::date")}) as before,
    case when ${MOVED} then (${nextSeenSql("$1::text", "c.who", "c.lane", "$2::date")}) end as after
  from changed c where c.entity = 'person'
  union all
  select c.*, e.before, case when ${MOVED} then e.after end
  from changed c
  left join (
    select who, lane, max(day) filter (where day < $2::date) as before, min(day) filter (where day > $2::date) as after
    from sessions group by who, lane
  ) e on e.who = c.who and e.lane = c.lane
  where c.entity = 'session'
), cells_after as materialized (
  select ${KEYS.map((key) => `r.${key}`).join(", ")}, r.day, r.first_at, true as attributed from rollup_cells r
  where r.org_id = $1::text and r.day = any(array(select after from around where entity = 'person'))
    and ${ENTITIES.person} = any(array(select text from around where entity = 'person' and after is not null))
), signed as (
  select c.*, case when c.now_at is null then -1 else 1 end as sign, coalesce(c.before, '-infinity') as previous, f.at as after_at
  from around c
  left join (select * from sessions union all ${firstsOf("person", "cells_after")}
  ) f on f.who = c.who and f.lane = c.lane and f.day = c.after
)
select entity, kind, lane, $2::date as day, value, previous, was as at, -1 as n from signed where was is not null
union all select entity, kind, lane, $2::date, value, previous, now_at, 1 from signed where now_at is not null
union all select entity, kind, lane, after, value, previous, after_at, -sign from signed where after is not null
union all select entity, kind, lane, after, value, $2::date, after_at, sign from signed where after is not null`;

const GAP = "entity, kind, lane, day, value, previous";
const GAP_OF_WEEK = "entity, kind, lane, week, value, previous";

/** What the steps of a row leave in the end: instants that come, and as a negative number each that goes. */
const FIRSTS_OF_STEPS = `
  select ${GAP}, sum(sign(n))::int as n, array_agg(case when n > 0 then at else -1 - at end order by at) as firsts
  from (select ${GAP}, at, sum(n)::int as n from gap_steps group by ${GAP}, at having sum(n) <> 0) s
  cross join lateral generate_series(1, abs(n))
  group by ${GAP}`;

export const TAKE_STEPS: readonly string[] = [
  `
insert into rollup_gaps as g (org_id, ${GAP}, n, firsts)
select $1::text, ${GAP}, n, firsts from (${FIRSTS_OF_STEPS}
) s order by ${GAP}
on conflict (org_id, ${GAP}) do update set n = g.n + excluded.n, firsts = array(
  select f from unnest(g.firsts || excluded.firsts) f where f >= 0
  except all select -1 - f from unnest(excluded.firsts) f where f < 0
  order by 1)`,
  `
insert into rollup_gap_weeks as g (org_id, ${GAP_OF_WEEK}, n)
select $1::text, ${GAP_OF_WEEK}, sum(n)::int
from (select *, ${weekOf("day")} as week from gap_steps) s where previous < week and ${IS_SUMMED_WEEK}
group by ${GAP_OF_WEEK} having sum(n) <> 0
order by ${GAP_OF_WEEK}
on conflict (org_id, ${GAP_OF_WEEK}) do update set n = g.n + excluded.n`,
];

/** Rows `g` of everybody: they tell for all of a day whether it is known. */
export const IN_TOTAL = `g.entity in ('person', 'session') and g.kind = 'total' and g.lane in (${LANE.all}, ${LANE.billed})`;

/** Whether it is not known of a row `g` when those of whom it tells were active first. */
export const IS_UNKNOWN = "g.n <> coalesce(cardinality(g.firsts), 0)";

/** After an update of the tables: the days with such rows. */
export const DAYS_OF_UNKNOWN = `
select g.day::text as day from rollup_gaps g where g.org_id = $1::text and ${IS_UNKNOWN} group by g.day order by g.day`;

/** Those of the steps, as reports tell them, before these are taken: they may leave a part of such a day known. */
export const DAYS_OF_UNKNOWN_STEPS = `
select d.day::text as day from (select distinct day from gap_steps) d
where (select count(*) from rollup_gaps g
  where g.org_id = $1::text and g.day = d.day and ${IN_TOTAL} and ${IS_UNKNOWN}) > 0
order by d.day`;

/** Notes it of the day $2, of which all are steps. */
export const NOTE_FIRSTS = `
update rollup_gaps g set firsts = s.firsts
from (${FIRSTS_OF_STEPS}
) s
where g.org_id = $1::text and g.day = $2::date and ${GAP.split(", ")
  .map((name) => `g.${name} = s.${name}`)
  .join(" and ")} and g.firsts is distinct from s.firsts`;

/** Those of the week $2, of which there are none. */
export const ROLL_GAPS_OF_WEEK = `
insert into rollup_gap_weeks (org_id, ${GAP_OF_WEEK}, n)
select $1::text, entity, kind, lane, $2::date, value, previous, sum(n)::int from rollup_gaps
where org_id = $1::text and day >= $2::date and day < $2::date + 7 and previous < $2::date
group by entity, kind, lane, value, previous having sum(n) <> 0
order by entity, kind, lane, value, previous`;
