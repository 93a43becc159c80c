import { KIND_NAMES, KINDS, type Kind, LANE, LANES, TAG_ROWS, whoSql } from "./kinds.ts";
import { BUCKET_NAMES, BUCKET_SQL, SUM_NAMES, SUMS } from "./sums.ts";

// The statements that make rollups. Parameters: $1 is the organisation; the others stand at each.

const KEYS = [
  "channel",
  "client",
  "model",
  "route",
  "owner",
  "user_label",
  "key_id",
  "session",
  "tags",
] as const;

const keys = KEYS.join(", ");
const sums = SUM_NAMES.join(", ");
const buckets = BUCKET_NAMES.join(", ");

/** Sums over records stay null for money alone. */
const summed = SUM_NAMES.map((name) => {
  const { one, type } = SUMS[name];
  const sum = type === "numeric" ? `sum(${one})` : `coalesce(sum(${one}), 0)::${type}`;
  return `${sum} as ${name}`;
}).join(", ");

const counted = BUCKET_NAMES.map(
  (name, i) => `nullif(count(*) filter (where r.bucket = ${i}), 0)::int as ${name}`,
).join(", ");

const UTC_DAY = "(hour at time zone 'UTC')::date";

const cellsOf = (where: string, firstCell: string): string => `
insert into rollup_hours (org_id, hour, cell, day, ${keys}, ${sums}, first_at, ${buckets})
select $1::text, hour, (${firstCell} + row_number() over ())::int, ${UTC_DAY}, ${keys}, ${sums}, first_at, ${buckets}
from (
  select date_trunc('hour', r.started_at, 'UTC') as hour, ${KEYS.map((key) => `r.${key}`).join(", ")}, ${summed},
    min(r.started_at) as first_at, ${counted}
  from (select r.*, ${BUCKET_SQL} as bucket from requests r where r.org_id = $1::text and ${where}) r
  group by hour, ${KEYS.map((key) => `r.${key}`).join(", ")}
) cells`;

/** Hours from $2 to before $3. */
export const FORGET_HOURS =
  "delete from rollup_hours where org_id = $1::text and hour >= $2::timestamptz and hour < $3::timestamptz";

/** The cells of the hours from $2 to before $3, of which there are none; tells of how many records. */
export const ROLL_HOURS = `
with made as (${cellsOf("r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz", "0")} returning records)
select coalesce(sum(records), 0)::int as records from made`;

/** Notes the records of the hour $2 whose like have gone already, and that are not in its cells yet; $3 is its end. */
export const NOTE_LATE = `
insert into rollup_late (org_id, id)
select r.org_id, r.id from requests r
where r.org_id = $1::text and r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz
on conflict do nothing returning id`;

/** Adds cells for the records $4 of the hour $2 to before $3. */
export const ADD_LATE = cellsOf(
  "r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz and r.id = any($4::uuid[])",
  "(select coalesce(max(cell), 0) from rollup_hours where org_id = $1::text and hour = $2::timestamptz)",
);

/** What was added so is of no further use as a single record. */
export const FORGET_LATE =
  "delete from requests where org_id = $1::text and started_at >= $2::timestamptz and started_at < $3::timestamptz";

const ofDay = (kind: Kind, select: string, groupBy: string): string => `
select ${select}
from (select h.*, true as attributed from rollup_hours h) r ${kind === "tag" ? TAG_ROWS : ""}
where r.org_id = $1::text and r.hour >= $2::date::timestamp at time zone 'UTC'
  and r.hour < ($2::date + 1)::timestamp at time zone 'UTC'
group by ${groupBy}`;

export const FORGET_DAY = `delete from rollup_days where org_id = $1::text and day = $2::date and kind = any($3::text[])`;

const resummed = SUM_NAMES.map((name) => `sum(r.${name})::${SUMS[name].type}`).join(", ");
const recounted = BUCKET_NAMES.map((name) => `sum(r.${name})::int`).join(", ");

/** The sums of the day $2, of which there are none, one statement a kind. */
export const ROLL_DAY: readonly string[] = KIND_NAMES.map(
  (kind) => `
insert into rollup_days (org_id, kind, day, value, channel, ${sums}, session_cost_usd, first_at, first_session_at,
  first_tag_at, ${buckets})${ofDay(
    kind,
    `$1::text, '${kind}', $2::date, ${KINDS[kind]}, r.channel, ${resummed},
  sum(r.cost_usd) filter (where r.session is not null), min(r.first_at),
  min(r.first_at) filter (where r.session is not null),
  min(r.first_at) filter (where cardinality(r.tags) > 0), ${recounted}`,
    `${KINDS[kind]}, r.channel`,
  )}`,
);

const ENTITIES = { person: "coalesce(r.user_label, r.owner)", session: "r.session" } as const;

const activeOfDay = KIND_NAMES.flatMap((kind) =>
  (["person", "session"] as const).map((entity) =>
    ofDay(
      kind,
      `'${entity}' as entity, '${kind}' as kind, ${KINDS[kind]} as value, ${ENTITIES[entity]} as text, ${LANES} as lanes`,
      `${KINDS[kind]}, ${ENTITIES[entity]} having ${ENTITIES[entity]} is not null`,
    ),
  ),
).join("\nunion all");

/** Who is active on the day $2 by its hours, as a table of this transaction. */
const noteActive = (table: string): string => `
create temporary table ${table} on commit drop as
select ${whoSql("entity", "kind", "value", "text")} as who, entity, kind, value, text, lanes::smallint as lanes
from (${activeOfDay}) a`;

export const NOTE_BEFORE = noteActive("active_before");
export const NOTE_AFTER = noteActive("active_after");
export const FORGET_NOTES = "drop table active_before, active_after, cells_elsewhere";
/** For a day that was not whole before. */
export const NOTE_NOBODY =
  "create temporary table active_before (who uuid, entity text, kind text, value text, text text, lanes smallint) on commit drop";

/** Hours of other whole days, before $3, of the sessions that are active on $2: few, for sessions are short. */
export const NOTE_ELSEWHERE = `
create temporary table cells_elsewhere on commit drop as
select h.*, true as attributed
from (
  select text from active_after where entity = 'session' union select text from active_before where entity = 'session'
) s
cross join lateral (
  select ${KEYS.join(", ")}, day from rollup_hours
  where org_id = $1::text and session = s.text and day <> $2::date and day < $3::date
  offset 0
) h`;

const elsewhere = KIND_NAMES.map(
  (kind) => `
    select ${whoSql("'session'", `'${kind}'`, KINDS[kind], "r.session")} as who, r.day, ${LANES} as lanes
    from cells_elsewhere r ${kind === "tag" ? TAG_ROWS : ""} group by 1, 2`,
).join("\n    union all");

/**
 * A change of who is active on the day $2 changes the rows of that day and of the next on which they are active. $3:
 * whether there may be such a day.
 */
export const BRIDGE_GAPS = `
with changed as (
  select c.*, l.lane
  from (
    select coalesce(a.who, b.who) as who, coalesce(a.entity, b.entity) as entity, coalesce(a.kind, b.kind) as kind,
      coalesce(a.value, b.value) as value, coalesce(a.lanes, 0) as now_in, coalesce(b.lanes, 0) as was_in
    from active_after a full join active_before b on a.who = b.who
    where a.lanes is distinct from b.lanes
  ) c
  cross join (values (${LANE.all}::smallint), (${LANE.billed}::smallint)) l(lane)
  where (c.now_in & l.lane) <> (c.was_in & l.lane)
), around as materialized (
  select c.*,
    (select max(s.day) from rollup_seen s
      where s.org_id = $1::text and s.who = c.who and s.day < $2::date and s.lanes & c.lane > 0) as before,
    case when $3::boolean then (select min(s.day) from rollup_seen s
      where s.org_id = $1::text and s.who = c.who and s.day > $2::date and s.lanes & c.lane > 0) end as after
  from changed c where c.entity = 'person'
  union all
  select c.*, e.before, e.after
  from changed c
  left join (
    select e.who, l.lane, max(e.day) filter (where e.day < $2::date) as before, min(e.day) filter (where e.day > $2::date) as after
    from (${elsewhere}
    ) e cross join (values (${LANE.all}::smallint), (${LANE.billed}::smallint)) l(lane)
    where e.lanes & l.lane > 0 group by e.who, l.lane
  ) e on e.who = c.who and e.lane = c.lane
  where c.entity = 'session'
), signed as (
  select *, case when now_in & lane > 0 then 1 else -1 end as sign, coalesce(before, '-infinity') as previous
  from around
), steps as (
  select entity, kind, lane, $2::date as day, value, previous, sign as n from signed
  union all select entity, kind, lane, after, value, previous, -sign from signed where after is not null
  union all select entity, kind, lane, after, value, $2::date, sign from signed where after is not null
)
insert into rollup_gaps as g (org_id, entity, kind, lane, day, value, previous, n)
select $1::text, entity, kind, lane, day, value, previous, sum(n)::int from steps
group by entity, kind, lane, day, value, previous having sum(n) <> 0
on conflict (org_id, entity, kind, lane, day, value, previous) do update set n = g.n + excluded.n`;

export const FORGET_SEEN = `
delete from rollup_seen s using active_before b
where b.entity = 'person' and s.org_id = $1::text and s.who = b.who and s.day = $2::date
  and not exists (select from active_after a where a.who = b.who)`;

export const NOTE_SEEN = `
insert into rollup_seen (org_id, who, day, lanes)
select $1::text, who, $2::date, lanes from active_after where entity = 'person'
on conflict (org_id, who, day) do update set lanes = excluded.lanes`;

/** $3: the kinds. */
export const FORGET_ACTIVE_HOURS = `delete from rollup_gaps where org_id = $1::text and entity = 'hour'
  and kind = any($3::text[]) and lane in (${LANE.all}, ${LANE.billed}) and day = $2::date`;

/** Pairs of a session and an hour add up over days: they have no day before. */
export const ROLL_ACTIVE_HOURS: readonly string[] = KIND_NAMES.map(
  (kind) => `
insert into rollup_gaps (org_id, entity, kind, lane, day, value, previous, n)
select $1::text, 'hour', '${kind}', l.lane, $2::date, a.value, '-infinity', count(*)
from (${ofDay(kind, `${KINDS[kind]} as value, r.session, r.hour, ${LANES} as lanes`, `${KINDS[kind]}, r.session, r.hour having r.session is not null`)}) a
cross join (values (${LANE.all}::smallint), (${LANE.billed}::smallint)) l(lane)
where a.lanes & l.lane > 0
group by l.lane, a.value`,
);
