import { type Context, distinctNames, type Section } from "./context.ts";
import { dimensionOf, filterSql, TAG_ROWS } from "./dimensions.ts";
import { aggregateOf, namedIn } from "./measures.ts";
import { relationOf } from "./relations.ts";
import { hourBit } from "./rollup/kinds.ts";
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
] as const;

/** What each distinct count needs of a single record `r`. */
const MEMBERS = {
  person: ["r.person"],
  session: ["r.run"],
  hour: [
    "r.run as hour_run",
    "(r.started_at at time zone 'UTC')::date as day",
    `${hourBit("r.started_at")} as hours`,
  ],
  pull_request: ["r.pull_request", "r.run"],
  review: ["r.review"],
  merge_session: ["r.run", "r.session_cost_usd"],
} as const;

/** The single records of both windows that pass the filters, one row for each group to which a record belongs. */
export function recordFacts(context: Context, { dimensions }: Section): string {
  const { ask, params } = context;
  const { spec, periods } = ask;
  const [d1 = "''", d2 = "''"] = dimensions.map((name) => dimensionOf(name).records);
  const current = withinSql("r.started_at", periods.current, params);
  const within = periods.previous
    ? `(${current} or ${withinSql("r.started_at", periods.previous, params)})`
    : current;
  const distinct = distinctNames(context);
  const summed = context.names.map((name) => aggregateOf(name).records);
  const columns = new Set([
    ...namedIn(spec.source === "outcomes" ? [] : summed, COLUMNS).map((name) => `r.${name}`),
    ...distinct.flatMap((name): readonly string[] => MEMBERS[name]),
    ...(distinct.includes("pull_request")
      ? [`r.pull_request = any(${params.add(ask.reverted, "text[]")}) as reverted`]
      : []),
  ]);
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(values, "text[]")),
  );
  const org = params.add(ask.orgId, "text");
  return `
  select ${current} as current, (${d1})::text collate "C" as d1, (${d2})::text collate "C" as d2,
    ${asksForLane(spec) ? "true" : "r.metered"} as billed, ${["r.uncertain", ...columns].join(", ")}
  from ${relationOf(ask, params, within)} r
  left join keys k on k.org_id = r.org_id and k.id = r.key_id${dimensions.includes("tag") ? `\n  ${TAG_ROWS}` : ""}
  where ${[`r.org_id = ${org}`, within, ...filters].join("\n    and ")}`;
}
