import { lastActiveSql, nextActiveSql } from "./active-days.ts";
import {
  billedSql,
  COUNTED_ROWS,
  countedBy,
  EVERYTHING,
  KINDS,
  LANE,
  personSql,
  SCOPE_ROWS,
  valueSql,
  whoSql,
} from "./kinds.ts";
import { KEYS } from "./roll.ts";

// The statements that write who was active when, from a day's cells. Parameters: $1 is the organisation, $2 the day.

const ENTITIES = { person: personSql("r."), session: "r.session" } as const;
const BILLED = billedSql("r.");

/** The time of the day of an instant (UTC), in milliseconds. */
const timeSql = (instant: string): string =>
  `(extract(epoch from (${instant} at time zone 'UTC')::time) * 1000)::int`;

const FIRSTS = `${timeSql("min(r.first_at)")} as at, ${timeSql(`min(r.first_at) filter (where ${BILLED})`)} as billed_at`;

/** Cells of one day: those of hours tell models and routes apart. */
const CELLS = {
  fine: `rollup_hours c where c.org_id = $1::text and c.hour >= $2::date::timestamp at time zone 'UTC'
  and c.hour < ($2::date + 1)::timestamp at time zone 'UTC'`,
  coarse: "rollup_sessions c where c.org_id = $1::text and c.day = $2::date",
} as const;

const activeOfDay = KINDS.flatMap((kind) =>
  countedBy(kind).map(
    (entity) => `
select '${entity}' as entity, '${kind}' as kind, o.scope, ${valueSql(kind)} as value, ${ENTITIES[entity]} as text, ${FIRSTS}
from (select c.*, true as attributed from ${CELLS[kind === "model" || kind === "route" ? "fine" : "coarse"]}) r ${SCOPE_ROWS}
where ${ENTITIES[entity]} is not null
group by o.scope, ${valueSql(kind)}, ${ENTITIES[entity]}`,
  ),
).join("\nunion all");

/** Who is active on the day, and from when on, as a table of this transaction. */
const noteActive = (table: string): string => `
create temporary table ${table} on commit drop as
select ${whoSql({ entity: "entity", kind: "kind", scope: "scope", value: "value", text: "text" })} as who, entity, kind,
  scope, value, text, at, billed_at
from (${activeOfDay}) a`;

export const NOTE_BEFORE = noteActive("active_before");
export const NOTE_AFTER = noteActive("active_after");
/** For a day of which nothing was told before. */
export const NOTE_NOBODY = `create temporary table active_before (who uuid, entity text, kind text, scope text, value text, text text,
  at int, billed_at int) on commit drop`;
/** Without it the server takes them for tables of any size. */
export const LOOK_AT_NOTES = "analyze active_before, active_after";
export const FORGET_NOTES = "drop table active_before, active_after, cells_elsewhere, delta_steps";

/** Cells of other days of the sessions that are active on this one: few, for sessions are short. */
export const NOTE_ELSEWHERE = `
create temporary table cells_elsewhere on commit drop as
select h.*, true as attributed
from (
  select text from active_after where entity = 'session' and kind = 'total' and scope = ''
  union select text from active_before where entity = 'session' and kind = 'total' and scope = ''
) s
cross join lateral (
  select ${KEYS.join(", ")}, day, first_at from rollup_hours
  where org_id = $1::text and session = s.text and day <> $2::date
  offset 0
) h`;

/** The first activity of everyone in a table of cells, by day and lane. */
const firstsOf = (entity: keyof typeof ENTITIES, table: string): string => `
    select f.who, f.day, l.lane, l.at from (${KINDS.filter((kind) => countedBy(kind).includes(entity))
      .map(
        (kind) => `
      select ${whoSql({ entity: `'${entity}'`, kind: `'${kind}'`, scope: "o.scope", value: valueSql(kind), text: ENTITIES[entity] })} as who, r.day, ${FIRSTS}
      from ${table} r ${SCOPE_ROWS} group by 1, 2`,
      )
      .join("\n      union all")}
    ) f
    cross join lateral (values (${LANE.all}::smallint, f.at), (${LANE.billed}::smallint, f.billed_at)) l(lane, at)
    where l.at is not null`;

const MEMBER = { org: "$1::text", who: "c.who", lane: "c.lane", day: "$2::date" };

/** Whether somebody came or went. */
const MOVED = "$3::boolean and (c.was is null) <> (c.now_at is null)";

/**
 * What a change of who is active on the day changes: the rows of that day and, where somebody came or went, those of the
 * next day on which they are active. $3: whether there may be such a day.
 */
export const NOTE_STEPS = `
create temporary table delta_steps on commit drop as
with changed as (
  select coalesce(a.who, b.who) as who, coalesce(a.entity, b.entity) as entity, coalesce(a.kind, b.kind) as kind,
    coalesce(a.scope, b.scope) as scope, coalesce(a.value, b.value) as value, coalesce(a.text, b.text) as text, l.lane, l.was, l.now_at
  from active_after a full join active_before b on a.who = b.who
  cross join lateral (values (${LANE.all}::smallint, b.at, a.at), (${LANE.billed}::smallint, b.billed_at, a.billed_at)) l(lane, was, now_at)
  where l.was is distinct from l.now_at and (coalesce(a.entity, b.entity), coalesce(a.kind, b.kind), l.lane) in (${COUNTED_ROWS})
), sessions as materialized (${firstsOf("session", "cells_elsewhere")}
), around as materialized (
  select c.*,
    (${lastActiveSql(MEMBER)}) as before,
    case when ${MOVED} then (${nextActiveSql(MEMBER)}) end as after
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
  select ${KEYS.map((key) => `r.${key}`).join(", ")}, r.day, r.first_at, true as attributed
  from (select distinct after as day from around where entity = 'person' and after is not null) d
  join rollup_hours r on r.hour >= d.day::timestamp at time zone 'UTC' and r.hour < (d.day + 1)::timestamp at time zone 'UTC'
  where r.org_id = $1::text and ${ENTITIES.person} = any(array(select text from around where entity = 'person' and after is not null))
), signed as (
  select c.*, case when c.now_at is null then -1 else 1 end as sign, coalesce(c.before, '-infinity') as previous, f.at as after_at
  from around c
  left join (select * from sessions union all ${firstsOf("person", "cells_after")}
  ) f on f.who = c.who and f.lane = c.lane and f.day = c.after
)
select entity, kind, lane, scope, $2::date as day, value, previous, was as at, -1 as n from signed where was is not null
union all select entity, kind, lane, scope, $2::date, value, previous, now_at, 1 from signed where now_at is not null
union all select entity, kind, lane, scope, after, value, previous, after_at, -sign from signed where after is not null
union all select entity, kind, lane, scope, after, value, $2::date, after_at, sign from signed where after is not null`;

const DELTA_COLUMNS = ["entity", "kind", "lane", "scope", "day", "value", "previous"];
const DELTA = DELTA_COLUMNS.join(", ");

/**
 * Rows of the steps, without those that no report reads: days of teams are whole, and sessions of whole days are sums, so that
 * their sessions that were active before are all that counts. Instants that come, and each that goes as a negative number. They are grouped by hash, which is several
 * times as fast as in their order, and put in order row by row.
 */
const ROWS_OF_STEPS = `
  select ${DELTA}, sum(n)::int as n, array_agg(case when n > 0 then at else -1 - at end) as firsts
  from delta_steps where entity = 'person' or scope = '${EVERYTHING}' or previous > '-infinity'
  group by ${DELTA}`;

export const TAKE_STEPS = `
insert into rollup_distinct_deltas as g (org_id, ${DELTA}, n, firsts)
select $1::text, ${DELTA}, n, array(select f from unnest(firsts) f order by 1) from (${ROWS_OF_STEPS}
) s order by ${DELTA}
on conflict (org_id, ${DELTA}) do update set n = g.n + excluded.n, firsts = array(
  select f from unnest(g.firsts || excluded.firsts) f where f >= 0
  except all select -1 - f from unnest(excluded.firsts) f where f < 0
  order by 1)`;

/** Rows that somebody has left, and nobody is in. Each is looked up: a join would read the rows of all days. */
export const FORGET_EMPTY = `
delete from rollup_distinct_deltas where ctid = any(array(
  select (select g.ctid from rollup_distinct_deltas g where g.org_id = $1::text and g.n = 0
    and (${DELTA_COLUMNS.map((column) => `g.${column}`).join(", ")}) = (${DELTA_COLUMNS.map((column) => `s.${column}`).join(", ")}))
  from (select distinct ${DELTA} from delta_steps where n < 0) s))`;
