import { aggregateOf } from "./aggregates.ts";
import { type Ask, contextOf, groupNames, isLong } from "./context.ts";
import { POSTGRES } from "./engines.ts";
import { asksForExplanation } from "./explained.ts";
import { factsSql } from "./facts.ts";
import type { Query } from "./parameters.ts";
import { statementOf } from "./plan.ts";
import { isSpread } from "./spread.ts";

/** Whether a report may read its facts from a table that others read as well; sums by one dimension answer others. */
export function isShareable(ask: Ask): boolean {
  const { engine, spec } = ask;
  // Tags make several groups, sessions are chosen first, explanations are joined, and percentiles of sums come last.
  const isPlain = !spec.dimensions.some((name) => name === "tag" || name === "session");
  if (engine !== POSTGRES || !isPlain || asksForExplanation(spec) || isSpread(spec)) return false;
  const { kind, names } = contextOf(ask);
  // What makes a figure a lower bound is one column of the facts, and differs for sums such as the list's cost.
  const isSure = names.every((name) => aggregateOf(name).unsure === undefined);
  return kind === null && isSure && !spec.measures.includes("latency_p95_ms");
}

/** One statement for reports of one source, filters and window; rows as `planReport`'s, with the report's place. */
export function planTogether(asks: readonly [Ask, ...Ask[]]): Query {
  const dimensions = [...new Set(asks.flatMap(({ spec }) => spec.dimensions))];
  const measures = [...new Set(asks.flatMap(({ spec }) => spec.measures))];
  // What is known beforehand is known of both windows to one that compares, and of reverts to one that counts them.
  const widest = asks.find(({ periods: { previous } }) => previous !== null) ?? asks[0];
  const shared = contextOf({
    ...widest,
    reverted: asks.find(({ reverted }) => reverted.length > 0)?.reverted ?? [],
    readsFacts: true,
    isShared: true,
    spec: { ...widest.spec, dimensions, measures },
  });
  const facts = factsSql(shared, { total: false, dimensions, facts: "all_facts" });
  const contexts = asks.map((ask) => contextOf({ ...ask, readsFacts: true }, shared.params));
  const columns = [...new Set(contexts.flatMap(({ names }) => names))].flatMap((name) => [
    `c_${name}`,
    `p_${name}`,
  ]);
  const names = asks.map(({ spec }) => groupNames(spec)).reduce((a, b) => (b.length > a.length ? b : a));
  const parts = contexts.map((context, part) => {
    const has = new Set(context.names.flatMap((name) => [`c_${name}`, `p_${name}`]));
    const own = columns.map((name) => (has.has(name) ? `${name}::text` : `null::text as ${name}`));
    const groups = context.ask.spec.dimensions.map(
      (name, i) => `g${dimensions.indexOf(name) + 1} as d${i + 1}`,
    );
    const named = groupNames(context.ask.spec);
    const all = [...groups, ...named.slice(groups.length).map((name) => `'' as ${name}`)];
    const window = context.ask.periods.previous === null ? " where current" : "";
    const factsFrom = `select f.*, ${all.join(", ")} from all_facts f${window}`;
    const shown = names.map((name) => (named.includes(name) ? name : `'' as ${name}`));
    return `select ${[`${part} as part`, "is_total", ...shown, "place", ...own].join(", ")} from (${statementOf({ ...context, factsFrom })}) x`;
  });
  const text = `with all_facts as materialized (${facts}\n)
${parts.join("\nunion all\n")}
order by part, is_total desc, place`;
  return { text, params: shared.params.values, isLong: isLong(shared) };
}
