import { hourCells, KEY_COLUMNS, overCells, SUM_NAMES } from "#drizzle/hour-sums.ts";
import {
  billedSql,
  EVERYTHING,
  FEW_KINDS,
  hasHours,
  isCountedBy,
  KINDS,
  type Kind,
  personSql,
  SCOPE_ROWS,
  valueSql,
} from "./kinds.ts";

// The statements that write sums. Parameter $1 is the organisation; each statement names the others.

const sums = SUM_NAMES.join(", ");

/** Identifies a cell within a day, regardless of model and route. */
const SESSION_KEYS = KEY_COLUMNS.filter((key) => key !== "model" && key !== "route");

/**
 * Adds cells for the records of the hour $2 to before $3 whose like are dropped already. Each is a cell of its own that
 * carries the record's id, so that a record which is sent again is not added again.
 */
export const ADD_LATE = hourCells(
  `r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz and not exists (
    select from rollup_hours h where h.org_id = $1::text and h.hour = $2::timestamptz and h.late = r.id)`,
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
insert into rollup_sessions (org_id, day, hours, ${SESSION_KEYS.join(", ")}, ${sums}, first_at)
select $1::text, $2::date, bit_or(1 << extract(hour from r.hour at time zone 'UTC')::int),
  ${SESSION_KEYS.map((key) => `r.${key}`).join(", ")}, ${overHours}, min(r.first_at)
${IN_DAY} where ${OF_DAY} group by ${SESSION_KEYS.map((key) => `r.${key}`).join(", ")}`;

/** Cells of the day's sessions, and those of other days: sums have these once for each day. */
export const MARK_AGAIN = `
update rollup_sessions set again = true where ctid = any(array(
  select unnest(c.cells) from (
    select distinct session from rollup_sessions where org_id = $1::text and day = $2::date and session is not null
  ) s
  cross join lateral (
    select array_agg(ctid) filter (where not again) as cells from rollup_sessions
    where org_id = $1::text and session = s.session having min(day) < max(day)
    offset 0
  ) c))`;

/** Gives the persons of the day a number. */
export const NUMBER_PEOPLE = `
insert into rollup_people (org_id, person, n)
select $1::text, person, coalesce((select max(n) from rollup_people where org_id = $1::text), -1) + row_number() over ()
from (
  select distinct ${personSql("r.")} as person from rollup_sessions r where r.org_id = $1::text and r.day = $2::date
  except select person from rollup_people where org_id = $1::text
) others where person is not null`;

const SUMMED = `value, channel, ${sums}, first_at, session_cost_usd, first_session_at, first_tag_at, people, active_hours,
  billed_hours, sessions, billed_sessions`;

/** What is counted of all channels of a value together: the first of them has it. */
const ofFirst = (n: string): string => `case when s.place = 1 then coalesce(a.${n}, 0) else 0 end`;

/** What sums by one dimension are of: instants, of all hours since midnight that end with them, and scopes. */
const GRAINS = {
  hour: { at: "r.hour", scope: `'${EVERYTHING}'::text`, scopes: "" },
  day: { at: "date_trunc('day', r.hour, 'UTC')", scope: "o.scope", scopes: SCOPE_ROWS },
} as const;

/** Inserts the sums of the hours, or of the whole day, from $2 to before $3, which must have no sums yet. */
const sumsMade = (kind: Kind, grain: keyof typeof GRAINS): string => {
  const { at, scope, scopes } = GRAINS[grain];
  const value = valueSql(kind);
  const cells = `from (select h.*, true as attributed from rollup_hours h) r ${scopes}`;
  const from = (start: string) => `r.org_id = $1::text and r.hour >= ${start} and r.hour < $3::timestamptz`;
  // Coverage reads those of all in all.
  const since = (where: string) =>
    kind === "total" ? `min(r.first_at) filter (where ${where})` : "null::timestamptz";
  const people = isCountedBy(kind, "person")
    ? [
        "bits_of(array_agg(p.n))",
        `left join rollup_people p on p.org_id = $1::text and p.person = ${personSql("r.")}`,
      ]
    : ["null::bit varying", ""];
  return `
insert into rollup_sums (org_id, grain, kind, scope, at, ${SUMMED})
select $1::text, '${grain}', '${kind}', s.scope, s.at, s.value, s.channel, ${SUM_NAMES.map((name) => `s.${name}`).join(", ")},
  s.first_at, s.session_cost_usd, s.first_session_at, s.first_tag_at, s.people, ${ofFirst("n")}, ${ofFirst("billed")},
  ${ofFirst("sessions")}, ${ofFirst("billed_sessions")}
from (
  select ${at} as at, ${scope} as scope, ${value} as value, r.channel, ${overHours},
    min(r.first_at) as first_at, sum(r.cost_usd) filter (where r.session is not null) as session_cost_usd,
    ${since("r.session is not null")} as first_session_at, ${since("cardinality(r.tags) > 0")} as first_tag_at, ${people[0]} as people,
    row_number() over (partition by ${at}, ${scope}, ${value} order by r.channel) as place
  ${cells} ${people[1]} where ${from("$2::timestamptz")}
  group by ${at}, ${scope}, ${value}, r.channel
) s
left join (
  select at, scope, value, count(*) as n, count(*) filter (where billed) as billed,
    count(*) filter (where hour = since) as sessions, count(*) filter (where hour = billed_since) as billed_sessions
  from (
    select ${at} as at, ${scope} as scope, ${value} as value, r.hour, bool_or(${billedSql("r.")}) as billed,
      min(r.hour) over one as since, min(min(r.hour) filter (where ${billedSql("r.")})) over one as billed_since
    ${cells} where ${from("date_trunc('day', $2::timestamptz, 'UTC')")} and r.session is not null
    group by ${at}, ${scope}, ${value}, r.hour, r.session
    window one as (partition by ${scope}, ${value}, r.session)
  ) sessions group by at, scope, value
) a on a.at = s.at and a.scope = s.scope and a.value = s.value`;
};

/** Of few kinds. */
export const ROLL_FEW = {
  hours: FEW_KINDS.map((kind) => sumsMade(kind, "hour")),
  days: FEW_KINDS.map((kind) => sumsMade(kind, "day")),
} as const;
export const ROLL_HOUR_SUMS: readonly string[] = KINDS.filter(hasHours).map((kind) => sumsMade(kind, "hour"));
export const ROLL_DAY_SUMS: readonly string[] = KINDS.map((kind) => sumsMade(kind, "day"));

/** All kinds are named, so that the index is of use. */
const forget = (grain: keyof typeof GRAINS, scope: string): string => `delete from rollup_sums
where org_id = $1::text and kind in (${KINDS.map((kind) => `'${kind}'`).join(", ")}) and ${scope}
  and grain = '${grain}' and at >= $2::timestamptz and at < $3::timestamptz`;

export const FORGET_HOUR_SUMS = forget("hour", `scope = '${EVERYTHING}'`);
/** The scopes of a day are those of its total. */
export const FORGET_DAY_SUMS = forget(
  "day",
  `scope = any(array(select scope from rollup_sums where org_id = $1::text and kind = 'total' and grain = 'day' and at = $2::timestamptz))`,
);
export const FORGET_SESSIONS = "delete from rollup_sessions where org_id = $1::text and day = $2::date";
