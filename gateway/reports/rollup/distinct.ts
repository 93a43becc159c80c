import { TAGS } from "../dimensions.ts";
import {
  type Context,
  dayOf,
  ENTITIES,
  type Entity,
  isTimely,
  type Reach,
  reachesOf,
  type Section,
} from "./context.ts";
import { down, HOUR_MS } from "./cover.ts";
import { BILLED, hourBit, isFine, KINDS, type LANE, whoSql } from "./kinds.ts";
import { lastHourOf } from "./last-hours.ts";
import { partSql } from "./parts.ts";
import { seenSql } from "./seen.ts";

/** Who is counted distinctly by days of sums, too: hours never last over more than one. */
type Who = Exclude<Entity, "hour">;
export const whoOf = ({ entities }: Context): Who[] =>
  entities.filter((entity): entity is Who => entity !== "hour");

const LANES = ["all", "billed"] as const satisfies readonly (keyof typeof LANE)[];
type Lane = (typeof LANES)[number];
const lanesOf = ({ names }: Context, entity: Who): Lane[] =>
  LANES.filter((lane) => names.includes(ENTITIES[entity][lane]));

/**
 * The persons or sessions of each group of a section (`text`), whether they are `billed` in it, and for each lane whether
 * the sums of the section's windows tell of them already.
 */
export function activeSql(context: Context, section: Section, entity: Who, base: string): string {
  const { column } = ENTITIES[entity];
  const reaches = reachesOf(context);
  // Value and day are asked of sums alone.
  const bySums = reaches.length > 0;
  const group = section.total ? "" : `, d1, d2${bySums ? ", value" : ""}`;
  const known = (lane: Lane) => {
    const seen =
      reaches.length > 0 ? `exists (${toldSql(context, section, entity, lane, reaches)})` : "false";
    return `${seen} as seen_${lane}`;
  };
  const active = `
    select current${section.total ? ", ''::text as value" : group}, ${column} as text,${bySums ? " min(day) as day," : ""} bool_or(billed) as billed
    from ${base} where ${column} is not null group by current${group}, ${column}`;
  const [lane = "all", ...others] = lanesOf(context, entity);
  if (others.length === 0) return `\n  select e.*, ${known(lane)} from (${active}\n  ) e`;
  // Whom the billed lane tells of, all lanes do: who is in both is looked for once.
  return `
  select e.*, seen_billed or ${known("all")} from (
    select e.*, ${known("billed")} from (${active}
    ) e offset 0
  ) e`;
}

/** Counts those that the sums of the section do not tell of. */
export function activePart(context: Context, section: Section, entity: Who, active: string): string {
  return countsPart(context, section, entity, active, () => "");
}

/**
 * The same in all, from those of each group: whom the sums of a group tell of, the sums of all tell of, and only the
 * others are looked for.
 */
export function activeInAll(context: Context, section: Section, entity: Who, active: string): string {
  const reaches = reachesOf(context);
  const seen = lanesOf(context, entity).map((lane) => `bool_or(seen_${lane}) as seen_${lane}`);
  const once = `(
    select current, ''::text as value, text,${reaches.length > 0 ? " min(day) as day," : ""} ${["bool_or(billed) as billed", ...seen].join(", ")}
    from ${active} group by current, text
  ) e`;
  return countsPart(context, section, entity, once, (lane) =>
    reaches.length > 0 ? ` and not exists (${toldSql(context, section, entity, lane, reaches)})` : "",
  );
}

function countsPart(
  context: Context,
  section: Section,
  entity: Who,
  from: string,
  further: (lane: Lane) => string,
): string {
  const counted = lanesOf(context, entity).map((lane) => [
    ENTITIES[entity][lane],
    `count(*) filter (where ${lane === "all" ? "" : "billed and "}not seen_${lane}${further(lane)})`,
  ]);
  return partSql(context, section, Object.fromEntries(counted), from);
}

/** Distinct pairs of session and hour: sums tell of other hours. */
export function hoursPart(context: Context, section: Section, base: string): string {
  const { all, billed } = ENTITIES.hour;
  const groups = `current${section.total ? "" : ", d1, d2"}`;
  // Without a person and a value to tell apart the base has one row of a group for each session and day.
  const isOne = !section.total && section.kind === null && !context.entities.includes("person");
  const inPart = reachesOf(context).filter(({ span }) => span.toMs % HOUR_MS !== 0);
  const hours = isOne
    ? `(
    select ${groups}, bit_count(hours::bit(24)) as n, bit_count(billed_hours::bit(24)) as billed from ${base} where run is not null
  ) e`
    : `(
    select ${groups}, bit_count(bit_or(hours)::bit(24)) as n, bit_count(bit_or(billed_hours)::bit(24)) as billed
    from ${base} where run is not null group by ${groups}, run, day
  ) e`;
  const from = inPart.length > 0 ? beside(context, section, base, inPart) : hours;
  return partSql(context, section, { [all]: "sum(n)", [billed]: "sum(billed)" }, from);
}

/** The same where sums tell of an hour in part, without the pairs of it that they tell of. */
function beside(context: Context, section: Section, base: string, inPart: readonly Reach[]): string {
  const { params } = context;
  const parts = inPart.map(({ current, span }, i) => {
    const hour = params.instant(down(HOUR_MS, span.toMs));
    return {
      join: `left join ${lastHourOf(context, section, current)} p${i} on p${i}.session = e.run and p${i}.value = e.value and e.current = ${current} and e.day = ${params.add(dayOf(span.toMs), "date")}`,
      all: ` & ~(case when p${i}.session is not null then ${hourBit(hour)} else 0 end)`,
      billed: ` & ~(case when p${i}.billed then ${hourBit(hour)} else 0 end)`,
    };
  });
  const groups = `current${section.total ? "" : ", d1, d2, value"}`;
  return `(
    select e.*, bit_count((hours${parts.map(({ all }) => all).join("")})::bit(24)) as n,
      bit_count((billed_hours${parts.map(({ billed }) => billed).join("")})::bit(24)) as billed
    from (
      select ${groups}${section.total ? ", ''::text as value" : ""}, run, day, bit_or(hours) as hours, bit_or(billed_hours) as billed_hours
      from ${base} where run is not null group by ${groups}, run, day
    ) e
    ${parts.map(({ join }) => join).join("\n    ")}
  ) e`;
}

/** Whether the person or session `e` is in the sums of its window, and of its group where that is a time. */
function toldSql(
  context: Context,
  section: Section,
  entity: Who,
  lane: Lane,
  reaches: readonly Reach[],
): string {
  const { params } = context;
  const org = params.add(context.ask.orgId, "text");
  const kind = section.kind ?? "total";
  const { current, previous } = context.covers;
  // Nobody is looked for of a window whose records are all told; what is asked of one window alone is a constant.
  const asked = reaches.filter(({ told }) => told === null);
  const isOne =
    asked.length === 1 && [current, previous].filter((cover) => cover?.told === null).length === 1;
  const side = (of: (reach: Reach) => string) =>
    isOne
      ? asked.map(of).join("")
      : `case ${reaches.map((reach) => `when ${reach.current ? "" : "not "}e.current then ${of(reach)}`).join(" ")} end`;
  const { start, end } = unitOf(section, "e.day");
  const from = side(({ fromDay }) => start(params.add(fromDay, "date")));
  const to = side(({ toDay }) => params.add(toDay, "date"));
  const toHour = side(({ toHour }) => params.add(String(toHour), "int"));
  if (entity === "person") {
    const who = whoSql("'person'", `'${kind}'`, "e.value", "e.text");
    return seenSql(org, { who, lane, from, to, toHour, end });
  }
  const value = kind === "tag" ? `e.value = any(${TAGS})` : `e.value = (${KINDS[kind]})`;
  return `select from (select c.*, true as attributed from ${isFine(kind) ? "rollup_cells" : "rollup_sessions"} c) r
      where r.org_id = ${org} and r.session = e.text and ${value}${lane === "all" ? "" : ` and ${BILLED}`}
        and r.day >= ${from} and r.day <= ${to}${end ? ` and r.day < ${end}` : ""}
        and (r.day < ${to} or r.hours & ((1 << ${toHour}) - 1) <> 0)`;
}

/** The first of the days that a row of `day` shares with its group, not before `from`, and the first after them, if any. */
export const unitOf = ({ dimensions }: Section, day: string) => {
  const units = dimensions.filter(isTimely);
  const first = units.map((unit) => `date_trunc('${unit}', ${day}::timestamp)::date`);
  const ends = units.map((unit) => `(date_trunc('${unit}', ${day}::timestamp) + interval '1 ${unit}')::date`);
  return {
    start: (from: string) => (first.length > 0 ? `greatest(${[from, ...first].join(", ")})` : from),
    end: ends.length > 0 ? `least(${ends.join(", ")})` : null,
  };
};
