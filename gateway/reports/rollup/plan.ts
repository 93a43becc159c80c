import type { DimensionName } from "#shared/report.ts";
import { DIMENSION, filterSql, TAGS } from "../dimensions.ts";
import { AGGREGATES, type AggregateName, aggregatesOf } from "../measures.ts";
import { type Parameters, parameters, type Query } from "../parameters.ts";
import { type Ask, comparedSql } from "../plan.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import type { Period, Periods } from "../window.ts";
import { type Cover, coverOf, type Span, type Survey } from "./cover.ts";
import { isKind, KINDS, type Kind, LANE, LANES_OF_ONE, TAG_ROWS, whoSql } from "./kinds.ts";
import { boundsSql, spansSql } from "./spans.ts";
import { BUCKET_NAMES, BUCKET_SQL, p95Sql, SUM_NAMES, SUMS } from "./sums.ts";

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

/** What is counted distinctly: whose column it is, and the names of the counts in each lane. */
const ENTITIES = {
  person: { column: "person", all: "users", billed: "billed_users" },
  session: { column: "run", all: "sessions", billed: "billed_sessions" },
  hour: { column: "run", all: "active_hours", billed: "billed_hours" },
} as const satisfies Record<string, { column: string; all: AggregateName; billed: AggregateName }>;
type Entity = keyof typeof ENTITIES;
const ENTITY_NAMES = Object.keys(ENTITIES) as Entity[];

/** Of a whole day of a cell, faster than from its instant. */
const OF_DAY: Partial<Record<DimensionName, string>> = {
  day: "r.day::text",
  week: "(r.day - extract(isodow from r.day)::int + 1)::text",
  month: "left(r.day::text, 7)",
};
const groupSql = (name: DimensionName): string => OF_DAY[name] ?? DIMENSION[name].sql;
const isTimely = (name: DimensionName): name is "day" | "week" | "month" => name in OF_DAY;

/** A report of source `requests` over rollups, with the columns of a plan over single records; `coverage` apart. */
export function planRolled(ask: Ask, survey: Survey): { rows: Query | null; total: Query } {
  const { dimensions } = ask.spec;
  return {
    rows: dimensions.length > 0 ? cellsQuery(ask, survey, dimensions) : null,
    total: cellsQuery(ask, survey, []),
  };
}

/** What a query's parts share. `kind` is null where whole days cannot answer. */
type Context = {
  ask: Ask;
  dimensions: readonly DimensionName[];
  params: Parameters;
  kind: Kind | null;
  covers: { current: Cover; previous: Cover | null };
  columns: readonly string[];
  names: readonly AggregateName[];
  buckets: readonly string[];
};

function cellsQuery(ask: Ask, survey: Survey, dimensions: readonly DimensionName[]): Query {
  const names = aggregatesOf(ask.spec.measures);
  const kind = kindOf(ask, dimensions, names);
  const cover = (period: Period) => coverOf(period, survey, kind !== null);
  const { current, previous } = ask.periods;
  const buckets = names.includes("latency_p95_ms") ? BUCKET_NAMES : [];
  // What tells whether a group is there, and whether its money is known, is always summed.
  const summed = new Set<string>(["records", "uncertain", ...names, ...buckets]);
  summed.delete("latency_p95_ms");
  const context: Context = {
    ask,
    dimensions,
    params: parameters(),
    kind,
    covers: { current: cover(current), previous: previous && cover(previous) },
    columns: [...summed],
    names,
    buckets,
  };
  // There may be far more groups than rows are shown: their percentiles wait, but where the order needs them.
  const late = ask.spec.measures[0] === "latency_p95_ms" ? [] : buckets;
  const compared = comparedSql(dimensions, ask.spec.measures, late);
  const facts = factsSql(context);
  const parts = partsOf(context);
  // Beside whole days there are few facts, worth reading once; without, each part reads but its own columns of many.
  const reading = daySpansOf(context.covers).length > 0 ? "materialized" : "not materialized";
  const text = `with facts as ${reading} (${facts}),
parts as (${parts.join("\n  union all\n")}
),
sums as (
  select current, d1, d2, ${context.columns.map((name) => `sum(${name}) as ${name}`).join(", ")}
  from parts group by current, d1, d2
),
cells as (
  select current, d1, d2, ${[...names.map((name) => `${finalSql(name, late)} as ${name}`), ...late].join(", ")},
    coalesce(uncertain, 0) > 0 as floor
  from sums s where records > 0
)
${late.length > 0 ? withPercentile(compared, names) : compared}`;
  return { text, params: context.params.values };
}

function finalSql(name: AggregateName, late: readonly string[]): string {
  if (name === "latency_p95_ms") return late.length > 0 ? "null" : p95Sql("s.");
  return AGGREGATES[name].money ? name : `coalesce(${name}, 0)`;
}

/** Fills in the percentiles of the rows that are shown. */
function withPercentile(compared: string, names: readonly AggregateName[]): string {
  const columns = (["c", "p"] as const).flatMap((side) => [
    `x.${side}_found, x.${side}_floor`,
    ...names.map((name) =>
      name === "latency_p95_ms" ? `${p95Sql(`x.${side}_`)}::text as ${side}_${name}` : `x.${side}_${name}`,
    ),
  ]);
  return `select x.d1, x.d2, ${columns.join(", ")} from (
${compared}
) x`;
}

/**
 * The kind of whole days that answers: the one dimension asked for beside times, or all in all. Filters choose hours;
 * but one by channel may choose days, where nothing is counted distinctly.
 */
function kindOf(
  { spec }: Ask,
  dimensions: readonly DimensionName[],
  names: readonly AggregateName[],
): Kind | null {
  const [kind = "total", ...others] = new Set(dimensions.filter((name) => !isTimely(name)));
  if (others.length > 0 || !isKind(kind)) return null;
  const filters = filtersOf(spec.filters).map(([name]) => name);
  if (filters.length === 0) return kind;
  const distinct = ENTITY_NAMES.some((entity) => isAsked(entity, names));
  return filters.every((name) => name === "channel") && !distinct ? kind : null;
}

const isAsked = (entity: Entity, names: readonly AggregateName[]): boolean =>
  names.includes(ENTITIES[entity].all) || names.includes(ENTITIES[entity].billed);

/** Cells of hours, and single records as cells of one, outside the whole days that are read as such. */
function factsSql({ ask, dimensions, params, kind, covers, buckets }: Context): string {
  const [d1 = "''", d2 = "''"] = dimensions.map(groupSql);
  const filters = filtersOf(ask.spec.filters);
  const both = [covers.current, ...(covers.previous ? [covers.previous] : [])];
  const org = params.add(ask.orgId, "text");
  const cells = `
    select h.org_id, h.hour as started_at, h.hour, h.day, ${KEYS}, ${SUM_NAMES.join(", ")}, ${buckets.map((name) => `${name}, `).join("")}
      case when h.session is not null then h.cost_usd end as session_cost_usd
    from rollup_hours h where h.org_id = ${org} and (${spansSql(
      "h.hour",
      both.flatMap(({ hours }) => hours),
      params,
    )})`;
  const ones = SUM_NAMES.map((name) => `${oneSql(name)} as ${name}`);
  const bits = buckets.map((name, i) => `case when r.bucket = ${i} then 1 end as ${name}, `);
  const bucket = buckets.length > 0 ? `, ${BUCKET_SQL} as bucket` : "";
  const records = `
    select r.org_id, r.started_at, date_trunc('hour', r.started_at, 'UTC'), (r.started_at at time zone 'UTC')::date,
      ${KEYS}, ${ones.join(", ")}, ${bits.join("")}
      case when r.session is not null then r.cost_usd end
    from (select r.*${bucket} from requests r where r.org_id = ${org} and (${spansSql(
      "r.started_at",
      both.flatMap(({ raw }) => raw),
      params,
    )})) r`;
  const conditions = filters.map(([name, values]) => `and ${filterSql(name, params.add(values, "text[]"))}`);
  return `
  select ${withinSql("r.started_at", ask.periods.current, params)} as current, (${d1})::text collate "C" as d1,
    (${d2})::text collate "C" as d2, ${kind ? `(${KINDS[kind]})::text as value` : "null::text as value"},
    ${asksForLane(ask.spec) ? "true" : "r.channel <> 'subscription'"} as billed,
    r.day, r.hour, r.person, r.run, r.session_cost_usd, ${[...SUM_NAMES, ...buckets].map((name) => `r.${name}`).join(", ")}
  from (
    select u.*, coalesce(u.user_label, u.owner) as person, u.session as run, true as attributed
    from (${cells}
    union all${records}
    ) u
  ) r
  left join keys k on k.org_id = r.org_id and k.id = r.key_id${dimensions.includes("tag") ? `\n  ${TAG_ROWS}` : ""}
  where true ${conditions.join("\n    ")}
`;
}

const KEYS = "channel, client, model, route, owner, user_label, key_id, session, tags";

const oneSql = (name: keyof typeof SUMS): string => {
  const { one, type } = SUMS[name];
  return type === "numeric" ? one : `coalesce(${one}, 0)::${type}`;
};

/** Every part has the same columns, all of them sums, so that the parts of a group add up. */
function partsOf(context: Context): string[] {
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

function daySpansOf({ current, previous }: Context["covers"]): { current: boolean; span: Span }[] {
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

const withinSql = (column: string, { fromMs, toMs }: Period, params: Parameters): string =>
  boundsSql(column, { fromMs: fromMs ?? Number.NEGATIVE_INFINITY, toMs }, params);

/** When the first record, the first with a session, and the first with a tag began, in milliseconds; null is never. */
export function firstsQuery(orgId: string, survey: Survey): Query {
  const params = parameters();
  const { days, hours, raw } = coverOf({ fromMs: null, toMs: Number.POSITIVE_INFINITY }, survey, true);
  const org = params.add(orgId, "text");
  const dayRows = days
    ? `select first_at, first_session_at, first_tag_at from rollup_days
      where org_id = ${org} and kind = 'total' and ${boundsSql("day", { fromMs: days.fromMs, toMs: days.toMs }, params)}
    union all `
    : "";
  const cell = (at: string) =>
    `${at}, case when session is not null then ${at} end, case when cardinality(tags) > 0 then ${at} end`;
  const ms = (name: string) => `(extract(epoch from min(${name})) * 1000)::bigint::text`;
  const text = `select ${ms("record")} as record, ${ms("session")} as session, ${ms("tag")} as tag
from (${dayRows}select ${cell("first_at")} from rollup_hours where org_id = ${org} and (${spansSql("hour", hours, params)})
  union all
  select ${cell("started_at")} from requests where org_id = ${org} and (${spansSql("started_at", raw, params)})
) f (record, session, tag)`;
  return { text, params: params.values };
}

/**
 * Asks how far rollups reach, and of how many records of the periods they tell, or of `enough` of them. No row where
 * there are no rollups.
 */
export function surveyQuery(orgId: string, { current, previous }: Periods, enough: number): Query {
  const params = parameters();
  const org = params.add(orgId, "text");
  const periods = [current, ...(previous ? [previous] : [])];
  const within = (column: string) => periods.map((period) => withinSql(column, period, params)).join(" or ");
  const text = `with state as (select * from rollup_state where org_id = ${org})
select (extract(epoch from s.rolled_to) * 1000)::bigint::text as rolled_to,
  (extract(epoch from s.raw_from) * 1000)::bigint::text as raw_from,
  (select array_agg(distinct (extract(epoch from m.hour) * 1000)::bigint) from rollup_marks m
    where m.org_id = ${org} and m.hour < s.rolled_to)::text as marked,
  (case when d.records >= ${params.add(String(Math.min(enough, Number.MAX_SAFE_INTEGER)), "bigint")} then d.records
    else d.records + coalesce((select sum(h.records) from rollup_hours h
      where h.org_id = ${org} and h.hour >= date_trunc('day', s.rolled_to, 'UTC') and (${within("h.hour")})), 0)
    end)::text as records
from state s
cross join lateral (
  select coalesce(sum(d.records), 0) as records from rollup_days d
  where d.org_id = ${org} and d.kind = 'total' and (${within("d.day")})
) d`;
  return { text, params: params.values };
}
