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
export const overRecords = (name: SumName): string => {
  const { one, type } = SUMS[name];
  return `${type === "numeric" ? `sum(${one})` : `coalesce(sum(${one}), 0)::${type}`} as ${name}`;
};
/** A sum over cells `r`. */
export const overCells = (name: SumName): string => `sum(r.${name})::${SUMS[name].type} as ${name}`;
