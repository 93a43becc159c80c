import { HOUR_MS } from "./cover.ts";
import { LANE, type Lane } from "./kinds.ts";

// Reading and writing `rollup_active_days`: on which days a person was active within a value of a dimension. A row `s` is of
// a month: the first bit of a set of days, and the first byte of the hours, is the month's first day.

const COLUMNS = {
  all: { days: "days", hours: "hours" },
  billed: { days: "billed_days", hours: "billed_hours" },
} as const satisfies Record<Lane, { days: string; hours: string }>;

const monthOf = (day: string): string => `date_trunc('month', ${day}::timestamp)::date`;

/** The hours of a month without activity: 255 means no hour. */
const NO_HOURS = "decode(repeat('ff', 31), 'hex')";

/** Days of the month `s` before `day`, as a set; `day` is not before the month. */
const daysBefore = (day: string): string => `~(-1 << least(${day} - s.month, 31))`;
/** Those from `day` on, which is not after the month. */
const daysFrom = (day: string): string => `(-1 << greatest(${day} - s.month, 0))`;
/** A set of days as text, the last of the month first. */
const textOf = (days: string): string => `(${days})::bit(31)::text`;
const lastOf = (days: string): string => `s.month + length(ltrim(${textOf(days)}, '0')) - 1`;
const firstOf = (days: string): string => `s.month + 31 - length(rtrim(${textOf(days)}, '0'))`;

type ActiveSpan = {
  from: string;
  /** The last day, of which the hours before `toHour` count. */
  to: string;
  toHour: string;
  /** The day that it ends before, if that is earlier. */
  end: string | null;
};

/**
 * In which lanes `who` (a hash of the dimension, its value and the person) was active in a span, as a set of bits: 1 for all
 * records, 2 for those that are billed.
 */
export function activeSql(org: string, who: string, { from, to, toHour, end }: ActiveSpan): string {
  const last = end ? `least(${to}, ${end})` : to;
  // The unit that a group shares with its rows may begin after `to`, or end before it.
  const isIn = end ? `${from} <= ${to} and ${to} < ${end}` : "true";
  // A shorter month has no 31st byte; in a longer one, that byte is a day before `to`.
  const bit = ({ days, hours }: { days: string; hours: string }, value: number) =>
    `case when s.${days} & m.days <> 0 or m.ends and get_byte(s.${hours}, m.place) < ${toHour} then ${value} else 0 end`;
  return `(select coalesce(bit_or(${bit(COLUMNS.all, 1)} | ${bit(COLUMNS.billed, 2)}), 0)
      from rollup_active_days s cross join lateral (
        select ${daysFrom(from)} & ${daysBefore(last)} as days, ${isIn} as ends, least(${to} - s.month, 30) as place) m
      where s.org_id = ${org} and s.who = ${who} and s.month >= ${monthOf(from)} and s.month <= ${monthOf(last)})`;
}

type ActiveMember = { org: string; who: string; lane: string; day: string };

const daysOfLane = (lane: string): string =>
  `case ${lane} when ${LANE.all} then s.${COLUMNS.all.days} else s.${COLUMNS.billed.days} end`;

/** The last day before `day` on which `who` was active in a lane. */
export function lastActiveSql({ org, who, lane, day }: ActiveMember): string {
  const days = `${daysOfLane(lane)} & ${daysBefore(day)}`;
  return `
    select ${lastOf(days)} from rollup_active_days s
    where s.org_id = ${org} and s.who = ${who} and s.month <= ${monthOf(day)} and ${days} <> 0
    order by s.month desc limit 1`;
}

/** The first one after `day`. */
export function nextActiveSql({ org, who, lane, day }: ActiveMember): string {
  const days = `${daysOfLane(lane)} & ${daysFrom(`${day} + 1`)}`;
  return `
    select ${firstOf(days)} from rollup_active_days s
    where s.org_id = ${org} and s.who = ${who} and s.month >= ${monthOf(day)} and ${days} <> 0
    order by s.month limit 1`;
}

// The statements that write it. Parameters: $1 is the organisation, $2 the day.

const MONTH = monthOf("$2::date");
const PLACE = `($2::date - ${MONTH})`;
const DAY = `(1 << ${PLACE})`;
const hoursOn = (hours: string, hour: string): string => `set_byte(${hours}, ${PLACE}, ${hour})`;
const hourOf = (at: string): string => `coalesce(${at} / ${HOUR_MS}, 255)`;

/** Those who were active on the day before it was summed up again, and are no more. */
export const FORGET_ACTIVE = `
with gone as (
  select b.who from active_before b
  where b.entity = 'person' and not exists (select from active_after a where a.who = b.who)
), ended as (
  delete from rollup_active_days s using gone
  where s.org_id = $1::text and s.who = gone.who and s.month = ${MONTH} and s.days & ~${DAY} = 0
)
update rollup_active_days s set days = s.days & ~${DAY}, billed_days = s.billed_days & ~${DAY},
  hours = ${hoursOn("s.hours", "255")}, billed_hours = ${hoursOn("s.billed_hours", "255")}
from gone
where s.org_id = $1::text and s.who = gone.who and s.month = ${MONTH} and s.days & ~${DAY} <> 0`;

/** Those who are active on the day. */
export const NOTE_ACTIVE = `
insert into rollup_active_days as s (org_id, who, month, days, billed_days, hours, billed_hours)
select $1::text, who, ${MONTH}, ${DAY}, case when billed_at is null then 0 else ${DAY} end,
  ${hoursOn(NO_HOURS, hourOf("at"))}, ${hoursOn(NO_HOURS, hourOf("billed_at"))}
from active_after where entity = 'person'
on conflict (org_id, who, month) do update set days = s.days | excluded.days,
  billed_days = s.billed_days & ~${DAY} | excluded.billed_days,
  hours = ${hoursOn("s.hours", `get_byte(excluded.hours, ${PLACE})`)},
  billed_hours = ${hoursOn("s.billed_hours", `get_byte(excluded.billed_hours, ${PLACE})`)}
where get_byte(s.hours, ${PLACE}) <> get_byte(excluded.hours, ${PLACE})
  or get_byte(s.billed_hours, ${PLACE}) <> get_byte(excluded.billed_hours, ${PLACE})`;

const EARLIER = `~(-1 << ${PLACE})`;
const earlierHours = (hours: string): string =>
  `substr(${hours}, 1, ${PLACE}) || substr(${NO_HOURS}, ${PLACE} + 1)`;

/** Days from $2 on: of those before in the same month the row stays. */
export const FORGET_ACTIVE_FROM: readonly string[] = [
  `delete from rollup_active_days s
where s.org_id = $1::text and (s.month > $2::date or s.month = ${MONTH} and s.days & ${EARLIER} = 0)`,
  `update rollup_active_days s set days = s.days & ${EARLIER}, billed_days = s.billed_days & ${EARLIER},
  hours = ${earlierHours("s.hours")}, billed_hours = ${earlierHours("s.billed_hours")}
where s.org_id = $1::text and s.month = ${MONTH}`,
];
