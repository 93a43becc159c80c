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

/** A sum over records `r`. Money alone stays null where none of it is known. */
export const overRecords = (name: SumName): string => {
  const { one, type } = SUMS[name];
  const sum = type === "numeric" ? `sum(${one})` : `coalesce(sum(${one}), 0)::${type}`;
  return `${sum} as ${name}`;
};

/** Buckets of latency in an octave, and in all (drizzle/schema/rollups.ts has a column for each). */
const PER_OCTAVE = 4;
const BUCKETS = 76;
const LEAST_MS = 8;

/** The least whole millisecond of each bucket; the first begins at 0, and the last has no end. */
export const BUCKET_FLOORS_MS: readonly number[] = Array.from({ length: BUCKETS }, (_, i) =>
  i === 0 ? 0 : Math.ceil(LEAST_MS * 2 ** (i / PER_OCTAVE)),
);
const LAST_MS = LEAST_MS * 2 ** (BUCKETS / PER_OCTAVE);
export const BUCKET_CEILINGS_MS: readonly number[] = BUCKET_FLOORS_MS.map(
  (_, i) => (BUCKET_FLOORS_MS[i + 1] ?? LAST_MS + 1) - 1,
);

export const BUCKET_NAMES: readonly string[] = BUCKET_FLOORS_MS.map((_, i) => `h${i}`);

/** The bucket of a record `r`, 0 to 75; null without a latency. */
export const BUCKET_SQL = `width_bucket(r.latency_ms, array[${BUCKET_FLOORS_MS.slice(1).join(",")}])`;
