import { BILLED, firstHourSql, isFine, KIND_NAMES, KINDS, LANE, TAG_ROWS, whoSql } from "./kinds.ts";
import { IS_SUMMED_WEEK, KEYS, weekOf } from "./roll.ts";

// The statements that tell who was active when, of a day's cells. Parameters: $1 is the organisation, $2 the day.

const ENTITIES = { person: "coalesce(r.user_label, r.owner)", session: "r.session" } as const;

const FIRST_HOURS = `${firstHourSql("bit_or(r.hours)")} as hour, ${firstHourSql(`bit_or(r.hours) filter (where ${BILLED})`)} as billed_hour`;

const activeOfDay = KIND_NAMES.flatMap((kind) =>
  (["person", "session"] as const).map(
    (entity) => `
select '${entity}' as entity, '${kind}' as kind, ${KINDS[kind]} as value, ${ENTITIES[entity]} as text, ${FIRST_HOURS}
from (select c.*, true as attributed from ${isFine(kind) ? "rollup_cells" : "rollup_sessions"} c) r ${kind === "tag" ? TAG_ROWS : ""}
where r.org_id = $1::text and r.day = $2::date and ${ENTITIES[entity]} is not null
group by ${KINDS[kind]}, ${ENTITIES[entity]}`,
  ),
).join("\nunion all");

/** Who is active on the day, and from which hour on, as a table of this transaction. */
const noteActive = (table: string): string => `
create temporary table ${table} on commit drop as
select ${whoSql("entity", "kind", "value", "text")} as who, entity, kind, value, text, hour, billed_hour
from (${activeOfDay}) a`;

export const NOTE_BEFORE = noteActive("active_before");
export const NOTE_AFTER = noteActive("active_after");
/** For a day of which nothing was told before. */
export const NOTE_NOBODY = `create temporary table active_before (who uuid, entity text, kind text, value text, text text,
  hour smallint, billed_hour smallint) on commit drop`;
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
  select ${KEYS.join(", ")}, day, hours from rollup_cells
  where org_id = $1::text and session = s.text and day <> $2::date
  offset 0
) h`;

const elsewhere = KIND_NAMES.map(
  (kind) => `
    select ${whoSql("'session'", `'${kind}'`, KINDS[kind], "r.session")} as who, r.day, ${FIRST_HOURS}
    from cells_elsewhere r ${kind === "tag" ? TAG_ROWS : ""} group by 1, 2`,
).join("\n    union all");

/** A later day and its hour as one number, which the least of tells both: hours since the day. */
const slot = (day: string, hour: string) => `(${day} - $2::date) * 24 + ${hour}`;

/**
 * What a change of who is active on the day changes: the rows of that day and, where somebody came or went, those of the
 * next day on which they are active. $3: whether there may be such a day.
 */
export const NOTE_STEPS = `
create temporary table gap_steps on commit drop as
with changed as (
  select coalesce(a.who, b.who) as who, coalesce(a.entity, b.entity) as entity, coalesce(a.kind, b.kind) as kind,
    coalesce(a.value, b.value) as value, l.lane, l.was, l.now_at
  from active_after a full join active_before b on a.who = b.who
  cross join lateral (values (${LANE.all}::smallint, b.hour, a.hour), (${LANE.billed}::smallint, b.billed_hour, a.billed_hour)) l(lane, was, now_at)
  where l.was is distinct from l.now_at
), around as materialized (
  select c.*,
    (select max(s.day) from rollup_seen s
      where s.org_id = $1::text and s.who = c.who and s.day < $2::date
        and (c.lane = ${LANE.all} or s.billed_hour is not null)) as before,
    case when $3::boolean and (c.was is null) <> (c.now_at is null) then (
      select min(${slot("s.day", `case c.lane when ${LANE.all} then s.hour else s.billed_hour end`)}) from rollup_seen s
      where s.org_id = $1::text and s.who = c.who and s.day > $2::date
        and (c.lane = ${LANE.all} or s.billed_hour is not null)) end as after
  from changed c where c.entity = 'person'
  union all
  select c.*, e.before, case when (c.was is null) <> (c.now_at is null) then e.after end
  from changed c
  left join (
    select e.who, l.lane, max(e.day) filter (where e.day < $2::date) as before,
      min(${slot("e.day", "l.hour")}) filter (where e.day > $2::date) as after
    from (${elsewhere}
    ) e
    cross join lateral (values (${LANE.all}::smallint, e.hour), (${LANE.billed}::smallint, e.billed_hour)) l(lane, hour)
    where l.hour is not null group by e.who, l.lane
  ) e on e.who = c.who and e.lane = c.lane
  where c.entity = 'session'
), signed as (
  select *, case when now_at is null then -1 else 1 end as sign, coalesce(before, '-infinity') as previous,
    $2::date + after / 24 as after_day, (after % 24)::smallint as after_hour
  from around
)
select entity, kind, lane, $2::date as day, value, previous, was as hour, -1 as n from signed where was is not null
union all select entity, kind, lane, $2::date, value, previous, now_at, 1 from signed where now_at is not null
union all select entity, kind, lane, after_day, value, previous, after_hour, -sign from signed where after is not null
union all select entity, kind, lane, after_day, value, $2::date, after_hour, sign from signed where after is not null`;

const takeSteps = (table: string, key: string, steps = "gap_steps"): string => `
insert into ${table} as g (org_id, ${key}, n)
select $1::text, ${key}, sum(n)::int from ${steps} group by ${key} having sum(n) <> 0
order by ${key}
on conflict (org_id, ${key}) do update set n = g.n + excluded.n`;

const GAP = "entity, kind, lane, day, value, previous";
const GAP_OF_WEEK = "entity, kind, lane, week, value, previous";
export const TAKE_STEPS: readonly string[] = [
  takeSteps("rollup_gaps", GAP),
  takeSteps("rollup_gap_hours", `${GAP}, hour`),
  takeSteps(
    "rollup_gap_weeks",
    GAP_OF_WEEK,
    `(
  select *, ${weekOf("day")} as week from gap_steps
) s where previous < week and ${IS_SUMMED_WEEK}`,
  ),
];

/** Those of the week $2, of which there are none. */
export const ROLL_GAPS_OF_WEEK = `
insert into rollup_gap_weeks (org_id, ${GAP_OF_WEEK}, n)
select $1::text, entity, kind, lane, $2::date, value, previous, sum(n)::int from rollup_gaps
where org_id = $1::text and day >= $2::date and day < $2::date + 7 and previous < $2::date
group by entity, kind, lane, value, previous having sum(n) <> 0
order by entity, kind, lane, value, previous`;

export const FORGET_SEEN = `
delete from rollup_seen s using active_before b
where b.entity = 'person' and s.org_id = $1::text and s.who = b.who and s.day = $2::date
  and not exists (select from active_after a where a.who = b.who)`;

export const NOTE_SEEN = `
insert into rollup_seen as s (org_id, who, day, hour, billed_hour)
select $1::text, who, $2::date, hour, billed_hour from active_after where entity = 'person'
on conflict (org_id, who, day) do update set hour = excluded.hour, billed_hour = excluded.billed_hour
where (s.hour, s.billed_hour) is distinct from (excluded.hour, excluded.billed_hour)`;
