import { BILLED, KIND_NAMES, KINDS, type Kind, QUARTER_KINDS, quarterSql, TAG_ROWS } from "./kinds.ts";
import { overRecords, SUM_NAMES, SUMS, type SumName } from "./sums.ts";

// The statements that make sums. Parameters: $1 is the organisation; the others stand at each.

const SESSION_KEYS = ["channel", "client", "owner", "user_label", "key_id", "session", "tags"] as const;
/** What is told apart within an hour. */
export const KEYS = [...SESSION_KEYS, "model", "route"] as const;

const keys = KEYS.join(", ");
const sums = SUM_NAMES.join(", ");

const summed = SUM_NAMES.map(overRecords).join(", ");

const UTC_DAY = "(hour at time zone 'UTC')::date";

const cellsOf = (where: string, firstCell: string): string => `
insert into rollup_hours (org_id, hour, cell, day, ${keys}, ${sums}, first_at)
select $1::text, hour, (${firstCell} + row_number() over ())::int, ${UTC_DAY}, ${keys}, ${sums}, first_at
from (
  select date_trunc('hour', r.started_at, 'UTC') as hour, ${KEYS.map((key) => `r.${key}`).join(", ")}, ${summed},
    min(r.started_at) as first_at
  from requests r where r.org_id = $1::text and ${where}
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

/** Quarters of the hours from $2 to before $3. */
export const FORGET_QUARTERS =
  "delete from rollup_quarters where org_id = $1::text and at >= $2::timestamptz and at < $3::timestamptz";

const quartersOf = (kind: Kind): string => `
insert into rollup_quarters (org_id, kind, at, value, channel, ${sums}, first_at, session_cost_usd)
select $1::text, '${kind}', r.at, ${KINDS[kind]}, r.channel, ${summed}, min(r.started_at),
  sum(r.cost_usd) filter (where r.session is not null)
from (
  select r.*, ${quarterSql("r.started_at")} as at
  from requests r where r.org_id = $1::text and r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz
) r
group by r.at, ${KINDS[kind]}, r.channel`;

/** The quarters of the hours from $2 to before $3, of which there are none. */
export const ROLL_QUARTERS: readonly string[] = QUARTER_KINDS.map(quartersOf);

/** A sum over rows `r` of sums. */
const overSums = (name: SumName): string => `sum(r.${name})::${SUMS[name].type}`;
const resummed = SUM_NAMES.map(overSums).join(", ");
const namedSums = SUM_NAMES.map((name) => `${overSums(name)} as ${name}`).join(", ");

/** Hours of the day $2, as `r`. */
const HOURS = `from (select h.*, true as attributed from rollup_hours h) r`;
const IN_DAY = `r.org_id = $1::text and r.hour >= $2::date::timestamp at time zone 'UTC'
  and r.hour < ($2::date + 1)::timestamp at time zone 'UTC'`;

const cellsOfDay = (by: readonly string[]): string => {
  const columns = by.map((key) => `r.${key}`).join(", ");
  return `
select bit_or(1 << extract(hour from r.hour at time zone 'UTC')::int) as hours, ${columns}, ${namedSums},
  min(r.first_at) as first_at
${HOURS} where ${IN_DAY} group by ${columns}`;
};

/** At one of the cells of a session's keys that share a model, or a route, the hours of all of them; 0 at the others. */
const hoursOf = (fine: string): string => {
  const alike = `partition by ${[...SESSION_KEYS, fine].join(", ")}`;
  return `case when row_number() over (${alike}) = 1 then bit_or(hours) over (${alike}) else 0 end`;
};

const ON_OTHER_DAYS = "select from rollup_sessions o where o.org_id = $1::text and o.day <> $2::date";

/** The cells of the day $2, of which there are none. */
export const ROLL_CELLS: readonly string[] = [
  `
insert into rollup_cells (org_id, day, cell, hours, of_model, of_route, ${keys}, ${sums}, first_at)
select $1::text, $2::date, row_number() over ()::int, hours, ${hoursOf("model")}, ${hoursOf("route")}, ${keys}, ${sums}, first_at
from (${cellsOfDay(KEYS)}
) r`,
  `
insert into rollup_sessions (org_id, day, cell, hours, ${SESSION_KEYS.join(", ")}, ${sums}, first_at, several)
select $1::text, $2::date, row_number() over ()::int, hours, ${SESSION_KEYS.join(", ")}, ${sums}, first_at,
  session is not null and (count(*) over (partition by session) > 1 or exists (${ON_OTHER_DAYS} and o.session = r.session))
from (${cellsOfDay(SESSION_KEYS)}
) r`,
];

const IN_HOURS = "r.org_id = $1::text and r.hour >= $2::timestamptz and r.hour < $3::timestamptz";

/** The sums of each hour from $2 to before $3, of which there are none. Active hours stand with the first channel of a value. */
const hourlyOf = (kind: Kind): string => {
  const from = `${HOURS} ${kind === "tag" ? TAG_ROWS : ""} where ${IN_HOURS}`;
  return `
insert into rollup_hourly (org_id, kind, hour, value, channel, ${sums}, first_at, session_cost_usd, first_session_at,
  first_tag_at, active_hours, billed_hours)
select $1::text, '${kind}', s.hour, s.value, s.channel, ${SUM_NAMES.map((name) => `s.${name}`).join(", ")}, s.first_at,
  s.session_cost_usd, s.first_session_at, s.first_tag_at, case when s.place = 1 then coalesce(a.n, 0) else 0 end,
  case when s.place = 1 then coalesce(a.billed, 0) else 0 end
from (
  select r.hour, ${KINDS[kind]} as value, r.channel, ${namedSums},
    min(r.first_at) as first_at, sum(r.cost_usd) filter (where r.session is not null) as session_cost_usd,
    min(r.first_at) filter (where r.session is not null) as first_session_at,
    min(r.first_at) filter (where cardinality(r.tags) > 0) as first_tag_at,
    row_number() over (partition by r.hour, ${KINDS[kind]} order by r.channel) as place
  ${from}
  group by r.hour, ${KINDS[kind]}, r.channel
) s
left join (
  select hour, value, count(*) as n, count(*) filter (where billed) as billed
  from (
    select r.hour, ${KINDS[kind]} as value, bool_or(${BILLED}) as billed
    ${from} and r.session is not null
    group by r.hour, ${KINDS[kind]}, r.session
  ) sessions group by hour, value
) a on a.hour = s.hour and a.value = s.value`;
};

export const ROLL_HOURLY: readonly string[] = KIND_NAMES.map(hourlyOf);

/** Sums by one dimension of several others of them, `r`. */
const summedUp = (table: string, unit: string, at: string, from: string): string => `
insert into ${table} (org_id, kind, ${unit}, value, channel, ${sums}, first_at, session_cost_usd, first_session_at,
  first_tag_at, active_hours, billed_hours)
select $1::text, r.kind, ${at}, r.value, r.channel, ${resummed}, min(r.first_at), sum(r.session_cost_usd),
  min(r.first_session_at), min(r.first_tag_at), sum(r.active_hours)::int, sum(r.billed_hours)::int
from ${from}
group by r.kind, r.value, r.channel
order by r.kind, r.value, r.channel`;

/** The sums of the whole day $2, of which there are none, of its hours'. */
export const ROLL_DAY = summedUp(
  "rollup_days",
  "day",
  "$2::date",
  `rollup_hourly r where ${IN_DAY} and r.kind = any($3::text[])`,
);

export const weekOf = (day: string): string => `date_trunc('week', ${day}::timestamp)::date`;
const WEEK = weekOf("$2::date");
/** Whether a `week` is one of those that are summed up. */
export const IS_SUMMED_WEEK = "week < (select weeks_to from rollup_state where org_id = $1::text)";

/** Makes the sums of the week of the day $2 anew of its days', where weeks are summed up so far. */
export const ROLL_WEEK: readonly string[] = [
  `delete from rollup_weeks where org_id = $1::text and week = ${WEEK}`,
  summedUp(
    "rollup_weeks",
    "week",
    WEEK,
    `(select d.*, ${WEEK} as week from rollup_days d) r
where r.org_id = $1::text and r.day >= ${WEEK} and r.day < ${WEEK} + 7 and r.${IS_SUMMED_WEEK}`,
  ),
];

const ofDay = (table: string): string => `delete from ${table} where org_id = $1::text and day = $2::date`;

/** Sums of the hours from $2 to before $3 that were made before, by the dimensions $4. */
export const FORGET_HOURLY = `delete from rollup_hourly r where ${IN_HOURS} and r.kind = any($4::text[])`;

/** Cells of the day $2 that were made before. */
const FORGET_CELLS: readonly string[] = [ofDay("rollup_cells"), ofDay("rollup_sessions")];

/** Sums of the day $2 that were made before; $3 are the dimensions. */
export const FORGET_SUMS: readonly string[] = [
  ...FORGET_CELLS,
  `${ofDay("rollup_days")} and kind = any($3::text[])`,
];
