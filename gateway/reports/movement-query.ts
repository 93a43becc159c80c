import type { AnswerRow } from "./assemble.ts";
import type { Ask } from "./context.ts";
import { filterSql, NONE } from "./dimensions.ts";
import { asksForExplanation, EXPLANATION_ROWS, explanationTables } from "./explained.ts";
import { parameters, type Query } from "./parameters.ts";
import { KEY_NAMES, relationOf } from "./relations.ts";
import { withinSql } from "./rollup/spans.ts";
import { asksForLane, filtersOf } from "./spec.ts";

/** One model, kind of unit and tier in one window; amounts are exact decimals as text. */
export type MovementRow = {
  current: boolean;
  model: string;
  kind: string;
  tier: string;
  units: string;
  usd: string;
};
/** All calls of known cost of one window, who made them, and how many others, of unknown or partly known cost, there are. */
export type MovementTotal = { current: boolean; requests: number; people: number; uncertain: number };

/** Asks what calls of both windows cost by model, kind of unit and tier; the rest is `other`, one unit a call. */
export function movementQuery(ask: Ask): Query {
  const { engine, spec, periods, orgId } = ask;
  const params = parameters(engine);
  const current = withinSql("r.started_at", periods.current, params);
  const within = periods.previous
    ? `(${current} or ${withinSql("r.started_at", periods.previous, params)})`
    : current;
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(values, "text[]"), ask),
  );
  if (!asksForLane(spec)) filters.push("r.metered");
  const explains = asksForExplanation(spec);
  const from = `${relationOf(ask, params, within)} r${spec.filters.key ? KEY_NAMES : ""}${explains ? EXPLANATION_ROWS : ""}`;
  const tables = [
    ...(explains ? explanationTables(ask, params) : []),
    `calls as (select ${current} as current, coalesce(r.model, '${NONE}') as model, r.person, r.uncertain, r.cost_usd, r.price,
    coalesce(r.service_tier, '${NONE}') as tier
  from ${from} where ${[`r.org_id = ${params.add(orgId, "text")}`, within, ...filters].join("\n    and ")})`,
  ];
  const text = `with ${tables.join(",\n")}
select case when current then 'true' else 'false' end as current, model, kind, tier, sum(units) as units, sum(usd) as usd,
  0 as people, 0 as uncertain
from (${engine.pricedRows("calls")}) x group by current, model, kind, tier
union all
select case when current then 'true' else 'false' end, '', '', '', count(cost_usd), 0,
  count(distinct case when cost_usd is not null then person end), count(case when uncertain then 1 end)
from calls group by current`;
  return { text, params: params.values, isLong: true };
}

export function movementOf(answer: readonly AnswerRow[]): { rows: MovementRow[]; totals: MovementTotal[] } {
  const { rows = [], totals = [] } = Object.groupBy(answer, (row) => (row["kind"] ? "rows" : "totals"));
  const text = (row: AnswerRow, name: string) => row[name] ?? "";
  const isCurrent = (row: AnswerRow) => row["current"] === "true";
  return {
    rows: rows.map((row) => ({
      current: isCurrent(row),
      model: text(row, "model"),
      kind: text(row, "kind"),
      tier: text(row, "tier"),
      units: text(row, "units"),
      usd: text(row, "usd"),
    })),
    totals: totals.map((row) => ({
      current: isCurrent(row),
      requests: Number(row["units"]),
      people: Number(row["people"]),
      uncertain: Number(row["uncertain"]),
    })),
  };
}
