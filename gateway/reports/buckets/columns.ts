import { KEY_COLUMNS, ofOne, SUM_NAMES, SUMS, type SumName } from "#drizzle/hour-sums.ts";
import type { DimensionName } from "#shared/report.ts";
import { dimensionOf, isFilteredByText } from "../dimensions.ts";
import { CLICKHOUSE } from "../engines.ts";

// Sums that ClickHouse keeps of the calls of an hour or a day: a row for each value of a kind and each lane.

/** The dimensions by which calls are summed up, beside all in all (`total`). */
const BY = ["client", "model", "route", "subject", "key", "team", "cost_center", "channel", "tag"] as const;
type By = (typeof BY)[number];
const isBy = (name: string): name is By => BY.some((kind) => kind === name);
/** Calls of tools are summed up by all dimensions of a kind together, and by what became of them. */
const OF_TOOLS: Readonly<Record<"tools" | "clients", readonly DimensionName[]>> = {
  tools: ["server", "tool"],
  clients: ["server", "tool", "client"],
};
type OfTools = keyof typeof OF_TOOLS;
export const isOfTools = (kind: string | null): kind is OfTools => kind !== null && kind in OF_TOOLS;
/** Cells are in a table of their own: sums of a day's calls that agree in all dimensions. */
export type BucketKind = By | "total" | OfTools | "cells";

/**
 * Records that are summed up, with the names of their hours and days, and of the one row which says that every hour with
 * records has a bucket. If the meaning of a sum changes, give it another name, so that all are rebuilt.
 */
export const LEVELS = {
  requests: { hour: "hour", day: "day", all: "all" },
  tool_calls: { hour: "tool hour", day: "tool day", all: "tool all" },
} as const;
export type Summed = keyof typeof LEVELS;
export const isSummed = (source: string): source is Summed => source in LEVELS;

/** The kind of sums that has these dimensions and filters of a source; null: no kind has them. */
export function kindBy(
  source: Summed,
  grouped: readonly DimensionName[],
  chosen: readonly DimensionName[],
): BucketKind | null {
  const asked = [...new Set([...grouped, ...chosen])];
  if (source === "tool_calls")
    return (
      (["tools", "clients"] as const).find((kind) => asked.every((name) => OF_TOOLS[kind].includes(name))) ??
      null
    );
  const [kind, ...others] = asked;
  if (kind === undefined) return "total";
  return isBy(kind) && others.length === 0 && (chosen.length === 0 || isFilteredByText(kind)) ? kind : null;
}

/** Of a value of tools' calls: behind what became of them. */
const part = (place: number): string => `splitByChar(char(31), r.value)[${place + 2}]`;
/** The text of a dimension over a row `r` of sums of a kind. */
export const textOfKind = (kind: BucketKind, name: DimensionName): string =>
  isOfTools(kind) ? part(OF_TOOLS[kind].indexOf(name)) : (dimensionOf(name).label ?? "r.value");

const valueIn = (kind: Exclude<By, "tag">): string => dimensionOf(kind, { engine: CLICKHOUSE }).sums ?? "''";

const textOf = (value: string): string => `cast(assumeNotNull(${value}) as String)`;

/** The kinds of a record `r` with its values: an array to join. */
const KIND_VALUES: Record<Summed, string> = {
  requests: `arrayConcat([('total', ''), ${BY.flatMap((kind) =>
    kind === "tag" ? [] : [`('${kind}', ${textOf(valueIn(kind))})`],
  ).join(
    ", ",
  )}], arrayMap(tag -> ('tag', cast(tag as String)), arrayDistinct(${CLICKHOUSE.itemsOr("r.tags", "(none)")})))`,
  tool_calls: `[${Object.entries(OF_TOOLS).map(
    ([kind, by]) =>
      `('${kind}', concat(toString(r.status), char(31), ${by.map((name) => textOf(dimensionOf(name, { engine: CLICKHOUSE }).records)).join(", char(31), ")}))`,
  )}]`,
};

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
/** Columns of facts that are not stored. */
const isStored = (name: string): boolean => !(name in MOMENT) && name !== "status";

const listOf = (value: string, where = "true"): string =>
  `if(${value} is not null and ${where}, [assumeNotNull(${value})], [])`;

/** What a single record `r` of relations.ts adds, by column. */
const ONE: Readonly<Record<Added | List | "active_hours" | "status" | keyof typeof MOMENT, string>> = {
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
  status: "r.status",
  run: "r.run",
  hour: "toStartOfHour(r.started_at, 'UTC')",
};
export type BucketColumn = keyof typeof ONE;
export const BUCKET_COLUMNS = Object.keys(ONE) as BucketColumn[];

/** A column over a single record `r`, and over a row `r` of sums and a cell `r`, with the same type. */
export function bucketColumn(name: BucketColumn): { record: string; sum: string; cell: string } {
  const type = typeOf(name);
  const record = `cast(${ONE[name]} as ${type}) as ${name}`;
  const cell = OF_CELL[name] ?? `r.${name} as ${name}`;
  if (isStored(name)) return { record, sum: `r.${name} as ${name}`, cell };
  const sum = name === "status" ? part(-1) : `cast(null as ${type})`;
  return { record, sum: `${sum} as ${name}`, cell: `cast(null as ${type}) as ${name}` };
}
/** What a cell does not store, because its keys say it. */
const OF_CELL: Partial<Record<BucketColumn, string>> = {
  people: `${ONE.people} as people`,
  payers: `${listOf("r.person", "r.unpriced < r.records")} as payers`,
  sessions: `${ONE.sessions} as sessions`,
  session_cost_usd: "case when r.run is not null then r.cost_usd end as session_cost_usd",
  active_hours: "toInt64(0) as active_hours",
  // Each latency is in the list.
  calls: "[] as calls",
};

function typeOf(name: BucketColumn): string {
  if (name === "run" || name === "hour") return MOMENT[name];
  if (name === "status") return "String";
  if (name in LISTS) return `Array(${LISTS[name as List]})`;
  return name !== "active_hours" && isMoney(name as Added) ? "Nullable(Decimal(76, 30))" : "Int64";
}

/** Of up to 256 latencies each is kept; else those above 127 ms as the middle of a 64th of an octave: at most 0.8 % off. */
const ABOVE = "toUInt8(greatest(0, toInt16(floor(log2(greatest(x, 1)))) - 6))";
const MIDDLE = `toUInt32(bitShiftLeft(bitShiftRight(x, ${ABOVE}), ${ABOVE}) + intDiv(bitShiftLeft(toUInt32(1), ${ABOVE}), 2))`;

/**
 * Makes `ms` and `calls` of the lists `took` and `times`: each latency once. `sumMap` takes five times as long. Of tools'
 * calls each is kept: few are equal, and weighted percentiles take three times as long.
 */
const withLatencies = (source: Summed) => (from: string) =>
  source === "tool_calls"
    ? `(select *, arraySort(took) as ms, [] as calls from (${from}))`
    : `(
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

const STORED = BUCKET_COLUMNS.filter(isStored);
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

const SUMMED_UP = ADDED.map((name) => `sum(${ONE[name]}) as ${name}`).join(", ");
const TOOK = "groupArrayIf(toUInt32(ifNull(r.latency_ms, 0)), r.latency_ms is not null)";

type Stored = { source: Summed; level: "hour" | "day"; gen: string; active: string };
const stored = ({ source, level, gen, active }: Stored): string =>
  `insert into sums select org_id, kind, '${LEVELS[source][level]}', ${level === "day" ? "day" : "at"}, value, billed, ${gen}, ${STORED.map((name) => (name === "active_hours" ? active : name)).join(", ")}`;

/** Sums up hours: `records` are the records `r` of these, and `gen` is the generation. */
export const hoursSql = (source: Summed, records: string, gen: string): string => `
${stored({ source, level: "hour", gen, active: source === "requests" ? ACTIVE : "0" })}
from ${withLatencies(source)(`
  select org_id, k.1 as kind, k.2 as value, toStartOfHour(r.started_at, 'UTC') as at, r.metered as billed,
    ${SUMMED_UP},
    groupUniqArray(r.person) as people, groupUniqArrayIf(r.person, not r.unpriced) as payers, groupUniqArray(r.run) as sessions,
    ${TOOK} as took, arrayWithConstant(length(took), toUInt32(1)) as times
  from (select r.*, ${KIND_VALUES[source]} as kinds from ${records} r) r array join r.kinds as k
  group by org_id, kind, value, at, billed`)}`;

/** Sums up a day from its hours: `hours` says which rows of sums these are. */
export const daySql = (source: Summed, hours: string, gen: string): string => `
${stored({ source, level: "day", gen, active: "active_hours" })}
from ${withLatencies(source)(`
  select org_id, kind, value, toStartOfDay(at, 'UTC') as day, billed, ${[...ADDED, "active_hours"].map((name) => `sum(${name}) as ${name}`).join(", ")},
    ${(["people", "payers", "sessions"] as const).map((name) => `groupUniqArrayArray(${name}) as ${name}`).join(", ")},
    groupArrayArray(ms) as took, groupArrayArray(calls) as times
  from sums where ${hours} group by org_id, kind, value, day, billed`)}`;

const OF_CELLS = STORED.filter((name) => OF_CELL[name] === undefined);
/** The columns of cells behind their keys with their types, in the order in which the statement below gives them. */
export const CELL_SUMS: readonly string[] = OF_CELLS.map((name) => `${name} ${typeOf(name)}`);

/** Makes the cells of a day of its `records`. A report reads them while the day's sums have this generation. */
export const cellsSql = (records: string, gen: string): string => `
insert into cells select org_id, day, ${gen}, ${[...KEY_COLUMNS, ...OF_CELLS].join(", ")}
from (
  select org_id, toStartOfDay(r.started_at, 'UTC') as day, ${KEY_COLUMNS.map((name) => `r.${name} as ${name}`).join(", ")}, ${SUMMED_UP},
    arraySort(${TOOK}) as ms
  from ${records} r group by org_id, day, ${KEY_COLUMNS.join(", ")})`;
