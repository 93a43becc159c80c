import type { Spec } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import type { Ask } from "./context.ts";
import { isMoney } from "./measures.ts";
import { parameters, type Query } from "./parameters.ts";
import { planReport } from "./plan.ts";
import { type Databases, recordsOf } from "./reach.ts";
import { windowOf } from "./window.ts";

// Whole batches are recorded at the prices of interactive calls, which is more than providers charge: a report with such
// records is of at most its cost.

/** Whether a report may hold batches: those of calls, with their cost, unless channels without them are asked for. */
const mayHoldBatches = ({ source, measures, filters }: Spec): boolean =>
  source === "requests" &&
  measures.some(isMoney) &&
  (filters.channel === undefined || filters.channel.includes("batch"));

/** Asks whether any batch of the current window has a cost at interactive prices; null: the report has none. Batches are few. */
function ceilingQuery({ orgId, spec, periods }: Pick<Ask, "orgId" | "spec" | "periods">): Query | null {
  if (!mayHoldBatches(spec)) return null;
  const params = parameters();
  const from = windowOf(periods.current).from;
  const since = from === null ? "" : ` and started_at >= ${params.add(from, "timestamptz")}`;
  const text = `select 1 as found from batches where org_id = ${params.add(orgId, "text")} and cost_basis = 'interactive'
    and cost_usd is not null and not partial and started_at < ${params.instant(periods.current.toMs)}${since} limit 1`;
  return { text, params: params.values };
}

/** The same report of batches alone: what filters leave of them. */
const ofBatches = (ask: Ask): Ask => ({
  ...ask,
  spec: {
    ...ask.spec,
    dimensions: [],
    measures: ["requests"],
    filters: { ...ask.spec.filters, channel: ["batch"] },
  },
});

const hasBatches = (rows: readonly AnswerRow[]): boolean =>
  rows.some((row) => Number(row["c_records"] ?? 0) > 0);

/** Whether the current window holds batches at interactive prices, which is more than they cost. */
export async function hasCeiling(databases: Databases, ask: Ask): Promise<boolean> {
  const query = ceilingQuery(ask);
  if (query === null || (await databases.postgres(query)).length === 0) return false;
  return hasBatches(await recordsOf(databases, ask)(planReport(ofBatches(ask))));
}
