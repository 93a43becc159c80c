/** What rollups keep of a set of records, and how one record, and a set of cells, becomes such a sum. */
type Sum = {
  /** Over the column `r.…` of one record; null adds nothing. */
  one: string;
  type: "int" | "bigint" | "numeric";
};

const flag = (sql: string): Sum => ({ one: `(${sql})::int`, type: "int" });
const big = (one: string): Sum => ({ one, type: "bigint" });
const usd = (one: string): Sum => ({ one, type: "numeric" });

const PRICED = "case when r.token_cost_usd is not null then";

export const SUMS = {
  records: flag("true"),
  unpriced: flag("r.unpriced"),
  uncertain: flag("r.unpriced or r.partial or r.cost_usd is null"),
  input_tokens: big("r.input_tokens"),
  output_tokens: big("r.output_tokens"),
  cached_tokens: big("r.cache_read_tokens"),
  priced_input_tokens: big(`${PRICED} r.input_tokens end`),
  priced_output_tokens: big(`${PRICED} r.output_tokens end`),
  cost_usd: usd("r.cost_usd"),
  token_cost_usd: usd("r.token_cost_usd"),
  latency_sum: big("r.latency_ms"),
  latency_count: flag("r.latency_ms is not null"),
  ttft_sum: big("r.ttft_ms"),
  ttft_count: flag("r.ttft_ms is not null"),
} as const satisfies Record<string, Sum>;

export type SumName = keyof typeof SUMS;
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

/** Buckets of latency in an octave, and in all (drizzle/schema/rollups.ts has a column for each). */
const PER_OCTAVE = 4;
const BUCKETS = 76;
const LEAST_MS = 8;

/** The least whole millisecond of each bucket; the first begins at 0, and the last has no end. */
export const BUCKET_FLOORS_MS: readonly number[] = Array.from({ length: BUCKETS }, (_, i) =>
  i === 0 ? 0 : Math.ceil(LEAST_MS * 2 ** (i / PER_OCTAVE)),
);
const LAST_MS = LEAST_MS * 2 ** (BUCKETS / PER_OCTAVE);
const ceilings = BUCKET_FLOORS_MS.map((_, i) => (BUCKET_FLOORS_MS[i + 1] ?? LAST_MS + 1) - 1);

export const BUCKET_NAMES: readonly string[] = BUCKET_FLOORS_MS.map((_, i) => `h${i}`);

/** The bucket of a record `r`, 0 to 75; null without a latency. */
export const BUCKET_SQL = `width_bucket(r.latency_ms, array[${BUCKET_FLOORS_MS.slice(1).join(",")}])`;

const list = (values: readonly (number | string)[]) => `array[${values.join(",")}]`;

/**
 * The 95th percentile of a histogram, the columns `h0` to `h75` behind `prefix`: linear between the two nearest ranks, as where it is
 * taken of single records, and each of these ranks linear within its bucket. A rank's true value lies in the same bucket,
 * so the result is off by less than 2^¼ − 1 = 18.9 %, and by less than 10 ms below 10 ms. Over 70 minutes it reads as
 * at most that.
 */
export const p95Sql = (prefix: string): string => {
  const columns = list(BUCKET_NAMES.map((name) => `${prefix}${name}::float8`));
  return `(
    with filled as (
      select n, floor, ceiling, sum(n) over (order by floor) as upto
      from unnest(${columns}, ${list(BUCKET_FLOORS_MS)}, ${list(ceilings)}) as b(n, floor, ceiling) where n > 0
    ), rank as (select 19 * (max(upto)::bigint - 1) as twentieths from filled),
    wanted as (
      select twentieths / 20 as place, 1 - (twentieths % 20) / 20.0::float8 as weight from rank
      union all select twentieths / 20 + 1, (twentieths % 20) / 20.0::float8 from rank where twentieths % 20 > 0
    )
    select sum(weight * (floor + (ceiling - floor) * (place - (upto - n) + 0.5) / n))
    from wanted join filled on place >= upto - n and place < upto
  )`;
};
