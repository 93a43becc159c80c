import { LATENCY_OF_ONE } from "./latencies.ts";

/** What rollups keep of a set of records, and how one record, and a set of cells, becomes such a sum. */
type Sum = {
  /** Over the column `r.…` of one record; null adds nothing. */
  one: string;
  type: "int" | "bigint" | "numeric";
};

const flag = (sql: string): Sum => ({ one: `(${sql})::int`, type: "int" });
const big = (one: string): Sum => ({ one, type: "bigint" });
/** Null where none is known, as money is. */
const known = (one: string): Sum => ({ one, type: "numeric" });

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
  cost_usd: known("r.cost_usd"),
  token_cost_usd: known("r.token_cost_usd"),
  latency_sum: big("r.latency_ms"),
  latency_count: flag("r.latency_ms is not null"),
  ttft_sum: big("r.ttft_ms"),
  ttft_count: flag("r.ttft_ms is not null"),
  latencies: known(LATENCY_OF_ONE),
} as const satisfies Record<string, Sum>;

export type SumName = keyof typeof SUMS;
export const SUM_NAMES = Object.keys(SUMS) as SumName[];

/** A sum over records `r`. Money and latencies stay null where none is known. */
export const overRecords = (name: SumName): string => {
  const { one, type } = SUMS[name];
  const sum = type === "numeric" ? `sum(${one})` : `coalesce(sum(${one}), 0)::${type}`;
  return `${sum} as ${name}`;
};
