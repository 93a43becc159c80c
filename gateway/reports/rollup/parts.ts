import { TAGS } from "../dimensions.ts";
import type { AggregateName } from "../measures.ts";
import {
  type Context,
  ENTITIES,
  type Entity,
  isTimely,
  type Reach,
  reachesOf,
  type Section,
} from "./context.ts";
import { BILLED, isFine, KINDS, type LANE, whoSql } from "./kinds.ts";

/** Aggregates of `requests` over cells, which are sums of records. What is counted distinctly is counted apart. */
export const OVER_CELLS: Partial<Record<AggregateName | "uncertain", string>> = {
  records: "sum(records)",
  billed_records: "sum(records) filter (where billed)",
  unpriced: "sum(unpriced) filter (where billed)",
  uncertain: "sum(uncertain) filter (where billed)",
  input_tokens: "sum(input_tokens)",
  output_tokens: "sum(output_tokens)",
  total_tokens: "sum(input_tokens + output_tokens)",
  cached_tokens: "sum(cached_tokens)",
  billed_tokens: "sum(input_tokens + output_tokens) filter (where billed)",
  priced_input_tokens: "sum(priced_input_tokens) filter (where billed)",
  priced_output_tokens: "sum(priced_output_tokens) filter (where billed)",
  cost_usd: "sum(cost_usd) filter (where billed)",
  token_cost_usd: "sum(token_cost_usd) filter (where billed)",
  session_cost_usd: "sum(session_cost_usd) filter (where billed)",
  latency_sum_ms: "sum(latency_sum)",
  latency_count: "sum(latency_count)",
  ttft_sum_ms: "sum(ttft_sum)",
  ttft_count: "sum(ttft_count)",
};

/** Every part has the same columns, all of them sums, so that the parts of a group add up. */
export function partSql(
  { columns, entities }: Context,
  { total }: Section,
  known: Readonly<Record<string, string>>,
  from: string,
): string {
  const all = [...columns, ...entities.flatMap((entity) => [ENTITIES[entity].all, ENTITIES[entity].billed])];
  const groups = total ? `''::text as d1, ''::text as d2` : "d1, d2";
  return `
  select ${total} as total, current, ${groups}, ${all.map((name) => `(${known[name] ?? "null"})::numeric as ${name}`).join(", ")}
  from ${from} group by current${total ? "" : ", d1, d2"}`;
}

/**
 * The facts by group and by who made them, from which groups, the total and those who are counted distinctly come: of a
 * person or a session there are few rows, so most of the work is done here, once.
 */
export function baseSql({ columns, entities }: Context, facts: string): string {
  const people = entities.includes("person") ? ["person"] : [];
  const runs = entities.some((entity) => entity !== "person") ? ["run", "day"] : [];
  const groups = ["current", "d1", "d2", ...(entities.length > 0 ? ["value"] : []), ...people, ...runs];
  const sums = columns.map((name) => `${OVER_CELLS[name as AggregateName] ?? "null"} as ${name}`);
  const who = [
    ...(entities.length > 0 ? ["bool_or(billed) as billed"] : []),
    ...(people.length > 0 && runs.length === 0 ? ["min(day) as day"] : []),
    ...(entities.includes("hour")
      ? ["bit_or(hours) as hours", "bit_or(hours) filter (where billed) as billed_hours"]
      : []),
  ];
  return `
  select ${[...groups, ...who, ...sums].join(", ")}
  from ${facts} group by ${groups.join(", ")}`;
}

/** What the facts add to a section: their sums, and whom they alone tell of. */
export function basePartsOf(context: Context, section: Section, base: string): string[] {
  const again = Object.fromEntries(context.columns.map((name) => [name, `sum(${name})`]));
  return [
    partSql(context, section, again, base),
    ...context.entities.map((entity) => entityPart(context, section, entity, base)),
  ];
}

/** Distinct persons, sessions, or pairs of session and hour of the facts, but for those that sums count already. */
function entityPart(context: Context, section: Section, entity: Entity, base: string): string {
  const { column, all, billed } = ENTITIES[entity];
  const groups = `current${section.total ? "" : ", d1, d2"}`;
  if (entity === "hour") {
    const hours = `(
    select ${groups}, bit_count(bit_or(hours)::bit(24)) as n, bit_count(bit_or(billed_hours)::bit(24)) as billed
    from ${base} where run is not null group by ${groups}, run, day
  ) e`;
    return partSql(context, section, { [all]: "sum(n)", [billed]: "sum(billed)" }, hours);
  }
  const value = section.total ? "" : ", value";
  const distinct = `(
    select ${groups}${section.total ? ", ''::text as value" : value}, ${column} as text, min(day) as day, bool_or(billed) as billed
    from ${base} where ${column} is not null group by ${groups}${value}, ${column}
  ) e`;
  const reaches = reachesOf(context.covers);
  const unseen = (lane: keyof typeof LANE) =>
    reaches.length > 0 ? ` and not exists (${seenSql(context, section, entity, lane, reaches)})` : "";
  const lanes = (["all", "billed"] as const).filter((lane) => context.names.includes(ENTITIES[entity][lane]));
  const counted = lanes.map((lane) => [
    ENTITIES[entity][lane],
    `count(*) filter (where ${lane === "all" ? "true" : "billed"}${unseen(lane)})`,
  ]);
  return partSql(context, section, Object.fromEntries(counted), distinct);
}

/** Whether the person or session `e` is in the sums of its window, and of its group where that is a time. */
function seenSql(
  context: Context,
  section: Section,
  entity: "person" | "session",
  lane: keyof typeof LANE,
  reaches: readonly Reach[],
): string {
  const { params } = context;
  const org = params.add(context.ask.orgId, "text");
  const kind = section.kind ?? "total";
  const side = (of: (reach: Reach) => string) =>
    `case ${reaches.map((reach) => `when ${reach.current ? "" : "not "}e.current then ${of(reach)}`).join(" ")} end`;
  const { start, end } = unitOf(section, "e.day");
  const from = side(({ fromDay }) => start(params.add(fromDay, "date")));
  const to = side(({ toDay }) => params.add(toDay, "date"));
  const toHour = side(({ toHour }) => params.add(String(toHour), "int"));
  const within = (early: string) =>
    `s.day >= ${from} and s.day <= ${to}${end ? ` and s.day < ${end}` : ""} and (s.day < ${to} or ${early})`;
  if (entity === "person") {
    const hour = lane === "all" ? "s.hour" : "s.billed_hour";
    return `select from rollup_seen s where s.org_id = ${org}
      and s.who = ${whoSql("'person'", `'${kind}'`, "e.value", "e.text")}${lane === "all" ? "" : " and s.billed_hour is not null"}
      and ${within(`${hour} < ${toHour}`)}`;
  }
  const value = kind === "tag" ? `e.value = any(${TAGS})` : `e.value = (${KINDS[kind]})`;
  return `select from (select c.*, true as attributed from ${isFine(kind) ? "rollup_cells" : "rollup_sessions"} c) r
      cross join lateral (select r.day) s
      where r.org_id = ${org} and r.session = e.text and ${value}${lane === "all" ? "" : ` and ${BILLED}`}
        and ${within(`r.hours & ((1 << ${toHour}) - 1) <> 0`)}`;
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
