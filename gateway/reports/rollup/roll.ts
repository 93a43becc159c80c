import { KEY_COLUMNS } from "../dimensions.ts";
import { billedSql, EVERYTHING, KINDS, type Kind, valueSql } from "./kinds.ts";
import { overCells, overRecords, SUM_NAMES } from "./sums.ts";

// The statements that write sums. Parameter $1 is the organisation; each statement names the others.

/** What tells cells of an hour apart, and cells of a day, whatever the model and the route. */
export const KEYS = KEY_COLUMNS;
const SESSION_KEYS = KEYS.filter((key) => key !== "model" && key !== "route");

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

const SUMMED = `value, channel, ${sums}, first_at, session_cost_usd, first_session_at, first_tag_at, active_hours,
  billed_hours, sessions, billed_sessions`;
const sumsOfRow = SUM_NAMES.map((name) => `s.${name}`).join(", ");

/** What is counted of all channels of a value together: the first of them has it. */
const ofFirst = (n: string): string => `case when s.place = 1 then coalesce(${n}, 0) else 0 end`;

/** What sums by one dimension are made of: cells `r` of hours, when they are of, in which scope, and what else joins them. */
type Made = { grain: "hour" | "day"; at: string; scope: string; from: string; sessions: string | null };

const sumsMade = (kind: Kind, { grain, at, scope, from, sessions }: Made): string => {
  const value = valueSql(kind);
  const cells = `from (select h.*, true as attributed from rollup_hours h) r ${from}`;
  return `
insert into rollup_sums (org_id, grain, kind, scope, at, cell, ${SUMMED})
select $1::text, '${grain}', '${kind}', s.scope, s.at, row_number() over (), s.value, s.channel, ${sumsOfRow}, s.first_at,
  s.session_cost_usd, s.first_session_at, s.first_tag_at, ${ofFirst("a.n")}, ${ofFirst("a.billed")},
  ${sessions === null ? "0, 0" : `${ofFirst("d.n")}, ${ofFirst("d.billed")}`}
from (
  select ${at} as at, ${scope} as scope, ${value} as value, r.channel, ${overHours},
    min(r.first_at) as first_at, sum(r.cost_usd) filter (where r.session is not null) as session_cost_usd,
    min(r.first_at) filter (where r.session is not null) as first_session_at,
    min(r.first_at) filter (where cardinality(r.tags) > 0) as first_tag_at,
    row_number() over (partition by ${at}, ${scope}, ${value} order by r.channel) as place
  ${cells}
  group by ${at}, ${scope}, ${value}, r.channel
) s
left join (
  select at, scope, value, count(*) as n, count(*) filter (where billed) as billed
  from (
    select ${at} as at, ${scope} as scope, r.hour, ${value} as value, bool_or(${billedSql("r.")}) as billed
    ${cells} and r.session is not null
    group by ${at}, ${scope}, r.hour, ${value}, r.session
  ) sessions group by at, scope, value
) a on a.at = s.at and a.scope = s.scope and a.value = s.value${sessions === null ? "" : `\nleft join (${sessions}) d on d.scope = s.scope and d.value = s.value`}`;
};

/** The sums of the hours from $2 to before $3, of which there are none. */
export const ROLL_HOUR_SUMS: readonly string[] = KINDS.map((kind) =>
  sumsMade(kind, {
    grain: "hour",
    at: "r.hour",
    scope: `'${EVERYTHING}'::text`,
    from: "where r.org_id = $1::text and r.hour >= $2::timestamptz and r.hour < $3::timestamptz",
    sessions: null,
  }),
);

/** All kinds are named, so that the index is of use. */
const ALL_KINDS = `org_id = $1::text and kind in (${KINDS.map((kind) => `'${kind}'`).join(", ")})`;
const HOUR_SUMS = `${ALL_KINDS} and scope = '${EVERYTHING}' and grain = 'hour'`;

export const FORGET_HOUR_SUMS = `delete from rollup_sums
where ${HOUR_SUMS} and at >= $2::timestamptz and at < $3::timestamptz`;

const MIDNIGHT = "($2::date::timestamp at time zone 'UTC')";

/** The sums of the whole day $2, of which there are none, from those of its hours and from who was active on it. */
const DAY_SUMS = `
insert into rollup_sums (org_id, grain, kind, at, cell, ${SUMMED})
select $1::text, 'day', s.kind, ${MIDNIGHT}, row_number() over (), s.value, s.channel, ${sumsOfRow}, s.first_at,
  s.session_cost_usd, s.first_session_at, s.first_tag_at, s.active_hours, s.billed_hours, ${ofFirst("a.n")}, ${ofFirst("a.billed")}
from (
  select r.kind, r.value, r.channel, ${overHours}, min(r.first_at) as first_at, sum(r.session_cost_usd) as session_cost_usd,
    min(r.first_session_at) as first_session_at, min(r.first_tag_at) as first_tag_at, sum(r.active_hours) as active_hours,
    sum(r.billed_hours) as billed_hours, row_number() over (partition by r.kind, r.value order by r.channel) as place
  from rollup_sums r where ${HOUR_SUMS} and r.at >= ${MIDNIGHT} and r.at < ${MIDNIGHT} + interval '1 day'
  group by r.kind, r.value, r.channel
) s
left join (
  select kind, value, count(*) as n, count(billed_at) as billed from active_after
  where entity = 'session' and scope = '${EVERYTHING}' group by kind, value
) a on a.kind = s.kind and a.value = s.value`;

/** Those of each team, from the cells of its hours. */
const teamSums = (kind: Kind): string =>
  sumsMade(kind, {
    grain: "day",
    at: MIDNIGHT,
    scope: "o.scope",
    from: `cross join lateral unnest(r.teams) as o(scope) where ${OF_DAY}`,
    sessions: `
  select scope, value, count(*) as n, count(billed_at) as billed from active_after
  where entity = 'session' and kind = '${kind}' group by scope, value`,
  });

export const ROLL_DAY_SUMS: readonly string[] = [DAY_SUMS, ...KINDS.map(teamSums)];

/** What was made of the day $2 before; its scopes are those of its total. */
export const FORGET_DAY: readonly string[] = [
  "delete from rollup_sessions where org_id = $1::text and day = $2::date",
  `delete from rollup_sums where ${ALL_KINDS} and grain = 'day' and at = ${MIDNIGHT} and scope = any(array(
    select distinct scope from rollup_sums where org_id = $1::text and kind = 'total' and grain = 'day' and at = ${MIDNIGHT}))`,
];
