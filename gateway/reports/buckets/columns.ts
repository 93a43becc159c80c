import type { DimensionName } from "#shared/report.ts";
import { dimensionOf, isFilteredByText } from "../dimensions.ts";
import { CLICKHOUSE } from "../engines.ts";
import { ofOne, SUM_NAMES, SUMS, type SumName } from "../rollup/sums.ts";

// Sums that ClickHouse keeps of the calls of an hour or a day: a row for each value of a kind and each lane.

/** The dimensions by which calls are summed up, beside all in all (`total`). */
const BY = ["client", "model", "route", "subject", "key", "team", "cost_center", "channel", "tag"] as const;
const BUCKET_KINDS = ["total", ...BY] as const satisfies readonly (DimensionName | "total")[];
export type BucketKind = (typeof BUCKET_KINDS)[number];
export const isBucketKind = (name: string): name is BucketKind => BUCKET_KINDS.some((kind) => kind === name);

/** Whether the values of a kind are what a filter compares. */
export const isChosenByValue = (kind: BucketKind): boolean => kind !== "total" && isFilteredByText(kind);

/** The value of a kind over a record `r`. */
const valueIn = (kind: Exclude<BucketKind, "total" | "tag">): string =>
  dimensionOf(kind, { engine: CLICKHOUSE }).sums ?? "''";

const textOf = (value: string): string => `cast(assumeNotNull(${value}) as String)`;

/** The kinds of a record `r` with its values: an array to join. */
const KIND_VALUES = `arrayConcat([('total', ''), ${BY.flatMap((kind) =>
  kind === "tag" ? [] : [`('${kind}', ${textOf(valueIn(kind))})`],
).join(
  ", ",
)}], arrayMap(tag -> ('tag', cast(tag as String)), arrayDistinct(${CLICKHOUSE.itemsOr("r.tags", "(none)")})))`;

type Added = Exclude<SumName, "latencies"> | "session_cost_usd";
const ADDED: readonly Added[] = [
  ...SUM_NAMES.filter((name): name is Exclude<SumName, "latencies"> => name !== "latencies"),
  "session_cost_usd",
];
const isMoney = (name: Added): boolean => name === "session_cost_usd" || SUMS[name].type === "numeric";

/** Lists: who, who with a known cost, sessions, and latencies with the number of calls that took so long. */
const LISTS = {
  people: "UInt64",
  payers: "UInt64",
  sessions: "UInt64",
  ms: "UInt32",
  calls: "UInt32",
} as const;
type List = keyof typeof LISTS;

/** What an instant of a cut hour adds to active hours: its session and the hour. */
const MOMENT = { run: "Nullable(UInt64)", hour: "Nullable(DateTime('UTC'))" } as const;

const listOf = (value: string, where = "true"): string =>
  `if(${value} is not null and ${where}, [assumeNotNull(${value})], [])`;

/** What a single record `r` of relations.ts adds, by column. */
const ONE: Readonly<Record<Added | List | "active_hours" | keyof typeof MOMENT, string>> = {
  ...(Object.fromEntries(
    ADDED.map((name) => [name, name === "session_cost_usd" ? "" : `(${ofOne(name)})`]),
  ) as Record<Added, string>),
  session_cost_usd: "case when r.run is not null then r.cost_usd end",
  people: listOf("r.person"),
  payers: listOf("r.person", "not r.unpriced"),
  sessions: listOf("r.run"),
  ms: `cast(${listOf("r.latency_ms")} as Array(UInt32))`,
  calls: "if(r.latency_ms is null, [], [toUInt32(1)])",
  active_hours: "0",
  run: "r.run",
  hour: "toStartOfHour(r.started_at, 'UTC')",
};
export type BucketColumn = keyof typeof ONE;
export const BUCKET_COLUMNS = Object.keys(ONE) as BucketColumn[];

/** A column over a single record `r`, and over a row `r` of sums, with the same type. */
export function bucketColumn(name: BucketColumn): { record: string; sum: string } {
  const type = typeOf(name);
  const record = `cast(${ONE[name]} as ${type}) as ${name}`;
  return { record, sum: name in MOMENT ? `cast(null as ${type}) as ${name}` : `r.${name} as ${name}` };
}

function typeOf(name: BucketColumn): string {
  if (name === "run" || name === "hour") return MOMENT[name];
  if (name in LISTS) return `Array(${LISTS[name as List]})`;
  return name !== "active_hours" && isMoney(name as Added) ? "Nullable(Decimal(76, 30))" : "Int64";
}

/** Of up to 256 latencies each is kept; else those above 127 ms as the middle of a 64th of an octave: at most 0.8 % off. */
const ABOVE = "toUInt8(greatest(0, toInt16(floor(log2(greatest(x, 1)))) - 6))";
const MIDDLE = `toUInt32(bitShiftLeft(bitShiftRight(x, ${ABOVE}), ${ABOVE}) + intDiv(bitShiftLeft(toUInt32(1), ${ABOVE}), 2))`;

/** Makes `ms` and `calls` of the lists `took` and `times`: each latency once. `sumMap` takes five times as long. */
const withLatencies = (from: string): string => `(
  select *, arrayFilter((x, last) -> last, ordered, lasts) as ms, arrayFilter((n, last) -> last, until, lasts) as sums_until,
    arrayMap((n, before) -> n - before, sums_until, arrayPopBack(arrayPushFront(sums_until, toUInt64(0)))) as calls
  from (
    select *, arrayMap((x, next) -> x <> next, ordered, arrayPopFront(arrayPushBack(ordered, toUInt32(4294967295)))) as lasts
    from (
      select *, arraySort(kept) as ordered, arrayCumSum(arraySort((n, x) -> x, times, kept)) as until
      from (select *, if(length(took) <= 256, took, arrayMap(x -> ${MIDDLE}, took)) as kept from (${from}))
    )
  )
)`;

const STORED = BUCKET_COLUMNS.filter((name) => !(name in MOMENT));
/** The columns of the table of sums with their types, in the order in which the statements below give them. */
export const SUMS_COLUMNS: readonly string[] = [
  "org_id LowCardinality(String)",
  "kind LowCardinality(String)",
  "level LowCardinality(String)",
  "at DateTime('UTC')",
  "value String",
  "billed Bool",
  "gen UInt64",
  ...STORED.map((name) => `${name} ${typeOf(name)}`),
];

/** Hours of a session in the subscription lane count where it was not billed in the same hour: so they add up. */
const ACTIVE = `length(sessions) - if(billed, 0,
    length(arrayIntersect(sessions, anyIf(sessions, billed) over (partition by kind, at, value))))`;

const stored = (level: "hour" | "day", gen: string, active: string): string =>
  `insert into sums select org_id, kind, '${level}', ${level === "day" ? "day" : "at"}, value, billed, ${gen}, ${STORED.map((name) => (name === "active_hours" ? active : name)).join(", ")}`;

/** Sums up hours: `requests` are the records `r` of these, and `gen` is the generation. */
export const hoursSql = (requests: string, gen: string): string => `
${stored("hour", gen, ACTIVE)}
from ${withLatencies(`
  select org_id, k.1 as kind, k.2 as value, toStartOfHour(r.started_at, 'UTC') as at, r.metered as billed,
    ${ADDED.map((name) => `sum(${ONE[name]}) as ${name}`).join(", ")},
    groupUniqArray(r.person) as people, groupUniqArrayIf(r.person, not r.unpriced) as payers, groupUniqArray(r.run) as sessions,
    groupArrayIf(toUInt32(ifNull(r.latency_ms, 0)), r.latency_ms is not null) as took, arrayWithConstant(length(took), toUInt32(1)) as times
  from (select r.*, ${KIND_VALUES} as kinds from ${requests} r) r array join r.kinds as k
  group by org_id, kind, value, at, billed`)}`;

/** Sums up a day from its hours: `hours` says which rows of sums these are. */
export const daySql = (hours: string, gen: string): string => `
${stored("day", gen, "active_hours")}
from ${withLatencies(`
  select org_id, kind, value, toStartOfDay(at, 'UTC') as day, billed, ${[...ADDED, "active_hours"].map((name) => `sum(${name}) as ${name}`).join(", ")},
    ${(["people", "payers", "sessions"] as const).map((name) => `groupUniqArrayArray(${name}) as ${name}`).join(", ")},
    groupArrayArray(ms) as took, groupArrayArray(calls) as times
  from sums where ${hours} group by org_id, kind, value, day, billed`)}`;
