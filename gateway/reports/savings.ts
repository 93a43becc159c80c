import type { Engine } from "./engines.ts";

/** Tokens written to the cache by a call `q`; null: unknown. */
export const WRITTEN = `case when q.cache_write_5m_tokens is not null or q.cache_write_1h_tokens is not null
      then coalesce(q.cache_write_5m_tokens, 0)::bigint + coalesce(q.cache_write_1h_tokens, 0) end`;

/** Own prices and providers' figures have the list's cost beside them, or none; other calls cost what the list says. */
export const LIST_COST = `case when q.cost_basis in ('contract', 'vendor', 'batch') then q.list_cost_usd
      else coalesce(q.list_cost_usd, q.cost_usd) end`;

/**
 * By the rows of a call's price (drizzle/price-text.ts). Unknown if it has no uncached token, whose price is not stored then, or
 * if it is of calls with several prices.
 */
export function cacheSavings(priced: Engine["priced"]): string {
  const of = (unit: string, groups: string) => priced("q.price", `(?:^|[|"])${unit} ${groups}[|]`);
  const input = of("input", "-?[0-9]+ ([0-9.]+)");
  const saved = ["cache_read", "cache_write_5m", "cache_write_1h"].map(
    (unit) => `coalesce(${of(unit, "([0-9]+) [0-9.]+")} * (${input} - ${of(unit, "[0-9]+ ([0-9.]+)")}), 0)`,
  );
  const several = of("input", "-?[0-9]+ [0-9.]+[|](?:.*[|])?input -?[0-9]+ ([0-9.]+)");
  return `case when coalesce(q.cache_read_tokens, 0) + coalesce(${WRITTEN}, 0) = 0 then 0
      when ${several} is null and ${input} is not null then ${saved.join(" + ")} end`;
}
