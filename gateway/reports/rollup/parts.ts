import type { DimensionName } from "#shared/report.ts";
import { TAGS } from "../dimensions.ts";
import type { AggregateName } from "../measures.ts";
import { asksForLane } from "../spec.ts";
import { type Context, ENTITIES, ENTITY_NAMES, type Entity, isAsked, isTimely, OF_DAY } from "./context.ts";
import type { Span } from "./cover.ts";
import { KINDS, LANE, LANES_OF_ONE, whoSql } from "./kinds.ts";
import { SUM_NAMES } from "./sums.ts";

/** Aggregates of `requests` over cells, which are sums of records. What is counted distinctly is counted apart. */
const OVER_CELLS: Partial<Record<AggregateName, string>> = {
  records: "sum(records)",
  billed_records: "sum(records) filter (where billed)",
  unpriced: "sum(unpriced) filter (where billed)",
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
export function partsOf(context: Context): string[] {
  const entities = ENTITY_NAMES.filter((entity) => isAsked(entity, context.names));
  const spans = daySpans(context);
  return [
    partSql(context, overCells(context), "facts"),
    ...entities.map((entity) => entityPart(context, entity, spans)),
    ...(spans.length > 0 ? [daysPart(context, spans)] : []),
    ...(spans.length > 0 && entities.length > 0 ? [gapsPart(context, entities, spans)] : []),
  ];
}

function partSql(context: Context, known: Readonly<Record<string, string>>, from: string): string {
  const columns = context.columns.map((name) => `(${known[name] ?? "null"})::numeric as ${name}`);
  return `
  select current, d1, d2, ${columns.join(", ")}
  from ${from} group by current, d1, d2`;
}

function overCells({ buckets }: Context): Record<string, string> {
  return {
    ...OVER_CELLS,
    uncertain: "sum(uncertain) filter (where billed)",
    ...Object.fromEntries(buckets.map((name) => [name, `sum(${name})`])),
  };
}

/** A window's whole days, as dates. */
type DaySpan = { current: boolean; from: string; to: string };

/** Which windows have whole days that are read as such. */
export function daySpansOf({ current, previous }: Context["covers"]): { current: boolean; span: Span }[] {
  const sides = [
    { current: true, span: current.days },
    { current: false, span: previous?.days ?? null },
  ];
  return sides.flatMap(({ span, ...side }) => (span ? [{ ...side, span }] : []));
}

const daySpans = ({ covers, params }: Context): DaySpan[] =>
  daySpansOf(covers).map(({ current, span }) => ({
    current,
    from: params.add(dateOf(span.fromMs, "0001-01-01"), "date"),
    to: params.add(dateOf(span.toMs, "infinity"), "date"),
  }));

const dateOf = (ms: number, unbounded: string): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : unbounded;

/** Distinct persons, sessions, or pairs of session and hour of the facts, but for those that whole days count already. */
function entityPart(context: Context, entity: Entity, spans: readonly DaySpan[]): string {
  const { column, all, billed } = ENTITIES[entity];
  const hour = entity === "hour" ? ", hour" : "";
  const distinct = `(
    select current, d1, d2, value, ${column} as text, min(day) as day, bool_or(billed) as billed
    from facts where ${column} is not null group by current, d1, d2, value, ${column}${hour}
  ) e`;
  if (entity === "hour" || spans.length === 0) {
    return partSql(context, { [all]: "count(*)", [billed]: "count(*) filter (where billed)" }, distinct);
  }
  const bound = (of: (span: DaySpan) => string) =>
    `case ${spans.map((span) => `when ${span.current ? "" : "not "}e.current then ${of(span)}`).join(" ")} end`;
  const within = `s.day >= ${bound(({ from }) => startSql(context, from, "e.day"))} and s.day < ${bound(({ to }) => endSql(context, to, "e.day"))}`;
  const joined = `${distinct}
  left join lateral (${seenSql(context, entity === "person" ? personSeen(context) : sessionSeen(context), within)}
  ) s on true`;
  return partSql(
    context,
    {
      [all]: `count(*) filter (where coalesce(s.lanes, 0) & ${LANE.all} = 0)`,
      [billed]: `count(*) filter (where billed and coalesce(s.lanes, 0) & ${LANE.billed} = 0)`,
    },
    joined,
  );
}

/** Rows of the whole days that tell of one person or session, and the lanes of such a row. */
type Seen = { from: string; lanes: string };

/** One row of the days within that has the most lanes asked for; whoever is billed counts in all. */
function seenSql({ names }: Context, { from, lanes }: Seen, within: string): string {
  const any = `select ${lanes} as lanes from ${from} and ${within}`;
  const billed = `(${any} and ${lanes} & ${LANE.billed} > 0 limit 1)\n      union all `;
  const isBilled = ENTITY_NAMES.some((entity) => names.includes(ENTITIES[entity].billed));
  return `
    select lanes from (${isBilled ? billed : ""}(${any} limit 1)) l limit 1`;
}

const personSeen = ({ ask, kind, params }: Context): Seen => ({
  lanes: "s.lanes",
  from: `rollup_seen s
      where s.org_id = ${params.add(ask.orgId, "text")}
        and s.who = ${whoSql("'person'", `'${kind ?? "total"}'`, "e.value", "e.text")}`,
});

function sessionSeen({ ask, kind, params }: Context): Seen {
  const value = kind === "tag" ? `e.value = any(${TAGS})` : `e.value = (${KINDS[kind ?? "total"]})`;
  return {
    lanes: LANES_OF_ONE,
    from: `(select h.*, true as attributed from rollup_hours h) r
      cross join lateral (select r.day) s
      where r.org_id = ${params.add(ask.orgId, "text")} and r.session = e.text and ${value}`,
  };
}

/** The first of the whole days that a row of `day` shares with its group, and the first after them. */
const startSql = ({ dimensions }: Context, from: string, day: string): string =>
  `greatest(${[from, ...dimensions.filter(isTimely).map((unit) => `date_trunc('${unit}', ${day}::timestamp)::date`)].join(", ")})`;
const endSql = ({ dimensions }: Context, to: string, day: string): string =>
  `least(${[to, ...dimensions.filter(isTimely).map((unit) => `(date_trunc('${unit}', ${day}::timestamp) + interval '1 ${unit}')::date`)].join(", ")})`;

/** Rows `r` of a table of whole days, with the groups that their days and values make. */
function ofDays(context: Context, table: string, select: string, where: string): string {
  const { ask, dimensions, kind, params } = context;
  const [d1 = "''", d2 = "''"] = dimensions.map(daysGroupSql);
  const keys = kind === "key" ? "\n    left join keys k on k.org_id = r.org_id and k.id = r.value::uuid" : "";
  return `(
    select (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2, ${select}
    from ${table} r${keys}
    where r.org_id = ${params.add(ask.orgId, "text")} and r.kind = ${params.add(kind ?? "total", "text")} and ${where}
  ) r`;
}

const daysGroupSql = (name: DimensionName): string =>
  OF_DAY[name] ?? (name === "key" ? "coalesce(k.name, r.value)" : "r.value");

const inSpans = (spans: readonly DaySpan[]): string =>
  `(${spans.map(({ from, to }) => `(r.day >= ${from} and r.day < ${to})`).join(" or ")})`;

const isCurrent = (spans: readonly DaySpan[]): string => {
  const [span] = spans.filter(({ current }) => current);
  return span ? `(r.day >= ${span.from} and r.day < ${span.to})` : "false";
};

function daysPart(context: Context, spans: readonly DaySpan[]): string {
  const { ask, buckets } = context;
  const channel = ask.spec.filters.channel ?? [];
  const filter = channel.length > 0 ? ` and r.channel = any(${context.params.add(channel, "text[]")})` : "";
  const columns = [...SUM_NAMES, "session_cost_usd", ...buckets].map((name) => `r.${name}`).join(", ");
  const lane = asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'";
  return partSql(
    context,
    overCells(context),
    ofDays(
      context,
      "rollup_days",
      `${isCurrent(spans)} as current, ${lane} as billed, ${columns}`,
      `${inSpans(spans)}${filter}`,
    ),
  );
}

function gapsPart(context: Context, entities: readonly Entity[], spans: readonly DaySpan[]): string {
  const starts = spans.map(
    ({ current, from }) =>
      `when ${current ? "" : "not "}${isCurrent(spans)} then ${startSql(context, from, "r.day")}`,
  );
  const asked = entities.map((entity) => `'${entity}'`).join(", ");
  const counts = entities.flatMap((entity) =>
    (["all", "billed"] as const).map((lane) => [
      ENTITIES[entity][lane],
      `sum(n) filter (where entity = '${entity}' and lane = ${LANE[lane]})`,
    ]),
  );
  return partSql(
    context,
    Object.fromEntries(counts),
    ofDays(
      context,
      "rollup_gaps",
      `${isCurrent(spans)} as current, r.entity, r.lane, r.n`,
      `r.entity in (${asked}) and r.lane in (${lanesOf(context)}) and ${inSpans(spans)} and r.n <> 0
      and r.previous < case ${starts.join(" ")} end`,
    ),
  );
}

/** Only the lanes that are asked for. */
const lanesOf = ({ names }: Context): string =>
  (["all", "billed"] as const)
    .filter((lane) => ENTITY_NAMES.some((entity) => names.includes(ENTITIES[entity][lane])))
    .map((lane) => LANE[lane])
    .join(", ");
