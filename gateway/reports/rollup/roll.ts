import { TAG_ROWS } from "../dimensions.ts";
import { billedSql, KINDS, type Kind, valueSql } from "./kinds.ts";
import { overCells, overRecords, SUM_NAMES } from "./sums.ts";

// The statements that write sums. Parameter $1 is the organisation; each statement names the others.

const SESSION_KEYS = ["channel", "client", "owner", "user_label", "key_id", "session", "tags"] as const;
/** What tells cells of an hour apart. */
export const KEYS = [...SESSION_KEYS, "model", "route"] as const;

const keys = KEYS.join(", ");
const sums = SUM_NAMES.join(", ");

const summed = SUM_NAMES.map(overRecords).join(", ");

const UTC_DAY = "(hour at time zone 'UTC')::date";

/** `late`: the record of which a cell is, where each is of one. */
const cellsOf = (where: string, firstCell: string, late = "null::uuid"): string => `
insert into rollup_hours (org_id, hour, cell, late, day, ${keys}, ${sums}, first_at)
select $1::text, hour, (${firstCell} + row_number() over ())::int, late, ${UTC_DAY}, ${keys}, ${sums}, first_at
from (
  select date_trunc('hour', r.started_at, 'UTC') as hour, ${late} as late, ${KEYS.map((key) => `r.${key}`).join(", ")}, ${summed},
    min(r.started_at) as first_at
  from requests r where r.org_id = $1::text and ${where}
  group by 1, 2, ${KEYS.map((key) => `r.${key}`).join(", ")}
) cells`;

/** Hours from $2 to before $3. */
export const FORGET_HOURS =
  "delete from rollup_hours where org_id = $1::text and hour >= $2::timestamptz and hour < $3::timestamptz";

/** The cells of the hours from $2 to before $3, of which there are none; returns the number of records. */
export const ROLL_HOURS = `
with made as (${cellsOf("r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz", "0")} returning records)
select coalesce(sum(records), 0)::int as records from made`;

/**
 * Adds cells for the records of the hour $2 to before $3 whose like are dropped already. Each is a cell of its own that
 * carries the record's id, so that a record which is sent again is not added again.
 */
export const ADD_LATE = cellsOf(
  `r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz and not exists (
    select from rollup_hours h where h.org_id = $1::text and h.hour = $2::timestamptz and h.late = r.id)`,
  "(select coalesce(max(cell), 0) from rollup_hours where org_id = $1::text and hour = $2::timestamptz)",
  "r.id",
);

/** What was added so is of no further use as a single record. */
export const FORGET_LATE =
  "delete from requests where org_id = $1::text and started_at >= $2::timestamptz and started_at < $3::timestamptz";

/** Cells of hours of the day $2, as `r`. */
const IN_DAY = `from (select h.*, true as attributed from rollup_hours h) r`;
const OF_DAY = `r.org_id = $1::text and r.hour >= $2::date::timestamp at time zone 'UTC'
  and r.hour < ($2::date + 1)::timestamp at time zone 'UTC'`;
const overHours = SUM_NAMES.map(overCells).join(", ");

/** The cells of the day $2, of which there are none. */
export const ROLL_SESSIONS = `
insert into rollup_sessions (org_id, day, cell, hours, ${SESSION_KEYS.join(", ")}, ${sums}, first_at)
select $1::text, $2::date, row_number() over ()::int, bit_or(1 << extract(hour from r.hour at time zone 'UTC')::int),
  ${SESSION_KEYS.map((key) => `r.${key}`).join(", ")}, ${overHours}, min(r.first_at)
${IN_DAY} where ${OF_DAY} group by ${SESSION_KEYS.map((key) => `r.${key}`).join(", ")}`;

/** The sums of the whole day $2, of which there are none. Active hours stand with the first channel of a value. */
const dayOf = (kind: Kind): string => {
  const from = `${IN_DAY} ${kind === "tag" ? TAG_ROWS : ""} where ${OF_DAY}`;
  return `
insert into rollup_days (org_id, kind, day, value, channel, ${sums}, first_at, session_cost_usd, first_session_at,
  first_tag_at, active_hours, billed_hours)
select $1::text, '${kind}', $2::date, s.value, s.channel, ${SUM_NAMES.map((name) => `s.${name}`).join(", ")}, s.first_at,
  s.session_cost_usd, s.first_session_at, s.first_tag_at, case when s.place = 1 then coalesce(a.n, 0) else 0 end,
  case when s.place = 1 then coalesce(a.billed, 0) else 0 end
from (
  select ${valueSql(kind)} as value, r.channel, ${overHours},
    min(r.first_at) as first_at, sum(r.cost_usd) filter (where r.session is not null) as session_cost_usd,
    min(r.first_at) filter (where r.session is not null) as first_session_at,
    min(r.first_at) filter (where cardinality(r.tags) > 0) as first_tag_at,
    row_number() over (partition by ${valueSql(kind)} order by r.channel) as place
  ${from}
  group by ${valueSql(kind)}, r.channel
) s
left join (
  select value, count(*) as n, count(*) filter (where billed) as billed
  from (
    select ${valueSql(kind)} as value, bool_or(${billedSql("r.")}) as billed
    ${from} and r.session is not null
    group by r.hour, ${valueSql(kind)}, r.session
  ) sessions group by value
) a on a.value = s.value`;
};

export const ROLL_DAYS: readonly string[] = KINDS.map(dayOf);

/** What was made of the day $2 before. */
export const FORGET_DAY: readonly string[] = ["rollup_sessions", "rollup_days"].map(
  (table) => `delete from ${table} where org_id = $1::text and day = $2::date`,
);
