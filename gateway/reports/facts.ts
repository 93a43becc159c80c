import { aggregateOf, namedIn } from "./aggregates.ts";
import { bucketFacts } from "./buckets/facts.ts";
import { type Context, distinctNames, groupColumns, type Section } from "./context.ts";
import { dimensionOf, filterSql, tagRows } from "./dimensions.ts";
import { asksForExplanation, EXPLANATION_ROWS } from "./explained.ts";
import { KEY_NAMES, relationOf } from "./relations.ts";
import { cellFacts } from "./rollup/cells.ts";
import { withinSql } from "./rollup/spans.ts";
import { asksForLane, filtersOf } from "./spec.ts";

/** The columns of relations that aggregates name. */
const COLUMNS = [
  "run",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cost_usd",
  "token_cost_usd",
  "unpriced",
  "latency_ms",
  "timed",
  "ttft_ms",
  "status",
  "operations",
  ...(["reasoning_tokens", "cache_write_tokens", "error"] as const),
  ...(["at_list_usd", "saved_usd", "cache_saved_usd", "on_bill_usd", "effective_usd"] as const),
] as const;

/** What each distinct count needs of a single record `r`; for hours see engines.ts. */
const MEMBERS = {
  person: ["r.person"],
  payer: [],
  session: ["r.run"],
  hour: [],
  pull_request: ["r.pull_request", "r.run", "r.session_cost_usd"],
  review: ["r.review"],
  merge_session: ["r.purse", "r.session_cost_usd"],
  fixes: ["r.purse", "r.fix_cost_usd"],
} as const;

/** The facts of both windows. */
export function factsSql(context: Context, section: Section): string {
  if (context.buckets !== null) return bucketFacts(context, section);
  return context.facts === "cells" ? cellFacts(context, section) : recordFacts(context, section);
}

/** The single records of both windows that pass the filters, one row for each group to which a record belongs. */
function recordFacts(context: Context, { dimensions }: Section): string {
  const { ask, params } = context;
  const { spec, periods, engine } = ask;
  const groups = groupColumns(
    context,
    dimensions.map((name) => engine.groupText(dimensionOf(name, ask).records)),
  );
  const current = withinSql("r.started_at", periods.current, params);
  const within = periods.previous
    ? `(${current} or ${withinSql("r.started_at", periods.previous, params)})`
    : current;
  const distinct = distinctNames(context);
  const summed = context.names.map((name) => aggregateOf(name).records);
  const billed = asksForLane(spec) ? "true" : "r.metered";
  const columns = new Set([
    ...namedIn(spec.source === "outcomes" ? [] : summed, COLUMNS).map((name) => `r.${name}`),
    ...distinct.flatMap((name): readonly string[] => MEMBERS[name]),
    ...(distinct.includes("hour") ? engine.hours("r.started_at") : []),
    ...(distinct.includes("payer")
      ? [`case when ${billed} and not r.unpriced then r.person end as payer`]
      : []),
    ...(distinct.includes("pull_request")
      ? [`${engine.isAnyOf("r.pull_request", params.add(ask.reverted, "text[]"))} as reverted`]
      : []),
  ]);
  const unsure = ["r.uncertain", ...context.names.flatMap((name) => aggregateOf(name).unsure ?? [])];
  const called = (value: string) => ask.tasks.called.get(value) || value;
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(name === "repository" ? values.map(called) : values, "text[]"), ask),
  );
  const org = params.add(ask.orgId, "text");
  const names = dimensions.includes("key") || spec.filters.key ? KEY_NAMES : "";
  if (ask.asOfMs !== undefined) filters.push(`r.started_at < ${params.instant(ask.asOfMs)}`);
  return `
  select ${current} as current, ${groups},
    ${billed} as billed, ${[unsure.length > 1 ? `${unsure.join(" or ")} as uncertain` : "r.uncertain", ...columns].join(", ")}
  from ${relationOf(ask, params, within)} r${names}${dimensions.includes("tag") ? `\n  ${tagRows(engine)}` : ""}${asksForExplanation(spec) ? EXPLANATION_ROWS : ""}
  where ${[`r.org_id = ${org}`, within, ...filters].join("\n    and ")}`;
}
