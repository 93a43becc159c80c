// Cells of hours: sums of an hour's records that agree in all dimensions of reports. Parameter $1 is the organisation.

import { words } from "#shared/words.ts";

/** Columns of cells that tell groups apart. */
export const KEY_COLUMNS = words(
  "channel client owner user_label key_id teams cost_center session tags model route",
);
export type KeyColumn = (typeof KEY_COLUMNS)[number];

/** A sum that cells keep; latencies are a histogram as one number (see the functions of the migration). `one`: what a single record `r` adds; null adds nothing. */
type Sum = { one: string; type: "int" | "bigint" | "numeric" };

const flag = (sql: string): Sum => ({ one: `(${sql})::int`, type: "int" });
const big = (sql: string): Sum => ({ one: sql, type: "bigint" });
/** Null where none is known, as money is. */
const known = (one: string): Sum => ({ one, type: "numeric" });

const PRICED = "case when r.token_cost_usd is not null then";

export const SUMS = {
  records: { one: "1", type: "int" },
  unpriced: flag("r.unpriced"),
  uncertain: flag("r.unpriced or r.partial or r.cost_usd is null"),
  input_tokens: big("r.input_tokens"),
  output_tokens: big("r.output_tokens"),
  cached_tokens: big("r.cache_read_tokens"),
  priced_input_tokens: big(`${PRICED} r.input_tokens end`),
  priced_output_tokens: big(`${PRICED} r.output_tokens end`),
  cost_usd: known("r.cost_usd"),
  token_cost_usd: known("r.token_cost_usd"),
  latency_sum: big("r.latency_ms"),
  latency_count: flag("r.latency_ms is not null"),
  ttft_sum: big("r.ttft_ms"),
  ttft_count: flag("r.ttft_ms is not null"),
  latencies: known("latency_histogram(r.latency_ms)"),
} as const satisfies Record<string, Sum>;

export type SumName = keyof typeof SUMS;
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

/** That of a single record `r`, as cells have it: money and latencies stay null where none is known, and flags are never null. */
export const ofOne = (name: SumName): string => {
  const { one, type } = SUMS[name];
  return type === "bigint" ? `coalesce(${one}, 0)::bigint` : one;
};
/** A sum over single records `r`. */
const overRecords = (name: SumName): string => {
  const { one, type } = SUMS[name];
  return `${type === "numeric" ? `sum(${one})` : `coalesce(sum(${one}), 0)::${type}`} as ${name}`;
};
/** A sum over cells `r`. */
export const overCells = (name: SumName): string => `sum(r.${name})::${SUMS[name].type} as ${name}`;

const keys = KEY_COLUMNS.join(", ");
const sums = SUM_NAMES.join(", ");

const summed = SUM_NAMES.map(overRecords).join(", ");

const UTC_DAY = "(hour at time zone 'UTC')::date";

/** `late`: the record of which a cell is, where each is of one. */
export const hourCells = (where: string, late = "null::uuid"): string => `
insert into rollup_hours (org_id, hour, late, day, ${keys}, ${sums}, first_at)
select $1::text, hour, late, ${UTC_DAY}, ${keys}, ${sums}, first_at
from (
  select date_trunc('hour', r.started_at, 'UTC') as hour, ${late} as late, ${KEY_COLUMNS.map((key) => `r.${key}`).join(", ")}, ${summed},
    min(r.started_at) as first_at
  from requests r where r.org_id = $1::text and ${where}
  group by 1, 2, ${KEY_COLUMNS.map((key) => `r.${key}`).join(", ")}
) cells`;

/** Hours from $2 to before $3. */
export const FORGET_HOURS =
  "delete from rollup_hours where org_id = $1::text and hour >= $2::timestamptz and hour < $3::timestamptz";

/** Inserts the cells of the hours from $2 to before $3, which must have no cells yet; returns the number of records. */
export const ROLL_HOURS = `
with made as (${hourCells("r.started_at >= $2::timestamptz and r.started_at < $3::timestamptz")} returning records)
select coalesce(sum(records), 0)::int as records from made`;

/**
 * Before these in a transaction: a day of a very large organisation takes minutes, many groups fit, none is worth compiling for,
 * and young tables without statistics are not joined row by row.
 */
export const BEFORE_SUMMING =
  "set local statement_timeout = '10min'; set local work_mem = '128MB'; set local jit = off; set local enable_nestloop = off";
