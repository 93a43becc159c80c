import type { Context } from "./context.ts";
import type { Span } from "./cover.ts";
import { hourBit } from "./kinds.ts";
import { usedSums } from "./parts.ts";

/** Whose records the sums of quarters tell of, from the hour's cells that began in them: they add nothing to sums. */
export function activeInQuarters(
  { ask, params, columns }: Context,
  keys: readonly string[],
  isCurrent: boolean,
  quarters: Span | null,
): string[] {
  if (!quarters) return [];
  const nothing = [...usedSums(columns), "session_cost_usd"].map((name) => `null::numeric as ${name}`);
  return [
    `
    select ${[`${isCurrent} as current`, "day", `bit_or(${hourBit("hour")}) as hours`, "org_id", ...keys, ...nothing].join(", ")} from rollup_hours
    where org_id = ${params.add(ask.orgId, "text")} and hour = ${params.instant(quarters.fromMs)} and first_at < ${params.instant(quarters.toMs)}
    group by ${["day", "org_id", ...keys].join(", ")}`,
  ];
}
