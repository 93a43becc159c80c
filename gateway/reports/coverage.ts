import type { Coverage, DimensionName, MeasureName, SourceName, Spec } from "#shared/report.ts";
import type { AnswerRow } from "./assemble.ts";
import type { Ask } from "./context.ts";
import { NONE } from "./dimensions.ts";
import { POSTGRES } from "./engines.ts";
import { type Parameters, parameters, type Query } from "./parameters.ts";
import { relationOf } from "./relations.ts";
import { coverOf, type Reach, type Span } from "./rollup/cover.ts";
import { EVERYTHING } from "./rollup/kinds.ts";
import { spansSql, sumsSql } from "./rollup/spans.ts";
import { SOURCE, sourceOf } from "./sources.ts";
import { filtersOf } from "./spec.ts";
import type { Period } from "./window.ts";

// Since when the optional labels that a report asks for are recorded, and how many records of each window are older.

/** The optional labels that a spec asks for. */
export function lateLabels({ source, dimensions, filters }: Spec): DimensionName[] {
  const { labels } = sourceOf(source);
  const asked = [...dimensions, ...filtersOf(filters).map(([name]) => name)];
  return [...new Set(asked)].filter((name) => labels[name] !== undefined);
}

/** Asks when the first record (`record`), and the first with each label, began, in milliseconds; null: never. */
export function firstsQuery(ask: Ask): Query {
  const { spec, reach } = ask;
  const { engine } = ask;
  const params = parameters(engine);
  const labels = lateLabels(spec);
  if (reach && spec.source === "requests") return rolledFirsts(ask.orgId, reach, params);
  const has = (name: DimensionName) => sourceOf(spec.source).labels[name]?.(engine);
  const first = (name: string, at: string) => `${engine.milliseconds(at)} as ${name}`;
  const firsts = labels.map((name) => first(name, `min(r.started_at) filter (where ${has(name)})`));
  const text = `select ${[first("record", "min(r.started_at)"), ...firsts].join(", ")}
from ${relationOf(ask, params, "true")} r where r.org_id = ${params.add(ask.orgId, "text")}`;
  return { text, params: params.values };
}

/** Labels of which sums by one dimension tell since when there are any. */
const SUMMED_LABELS = ["team", "cost_center"] as const;

function rolledFirsts(orgId: string, reach: Reach, params: Parameters): Query {
  const ever = { fromMs: null, toMs: Number.POSITIVE_INFINITY };
  const { sums, days, hours, raw } = coverOf(ever, reach, reach.hasFew ? null : "hours");
  const org = params.add(orgId, "text");
  const within = (column: string, spans: readonly Span[]) =>
    `r.org_id = ${org} and (${spansSql(column, spans, params)})`;
  const { labels } = SOURCE.requests;
  const names = ["session", "tag", ...SUMMED_LABELS] as const;
  const cell = (at: string) =>
    [at, ...names.map((name) => `case when ${labels[name](POSTGRES)} then ${at} end`)].join(", ");
  const summed = SUMMED_LABELS.map(
    (kind) => `min(first_at) filter (where kind = '${kind}' and value <> '${NONE}')`,
  );
  const kinds = ["total", ...SUMMED_LABELS].map((kind) => `'${kind}'`).join(", ");
  const firsts = (where: string) => `
  select min(first_at) filter (where kind = 'total'), min(first_session_at), min(first_tag_at), ${summed.join(", ")}
    from rollup_sums where org_id = ${org} and kind in (${kinds}) and scope = '${EVERYTHING}' and ${where}`;
  // Days and hours apart: one condition for both would read the hours of all days.
  const rows = [
    ...(sums ? sumsSql(sums, params) : []).map(firsts),
    `
  select ${cell("r.first_at")} from rollup_sessions r where ${within("r.day", days)}`,
    `
  select ${cell("r.first_at")} from rollup_hours r where ${within("r.hour", hours)}`,
    `
  select ${cell("r.started_at")} from requests r where ${within("r.started_at", raw)}`,
  ];
  const text = `select ${["record", ...names].map((name) => `${POSTGRES.milliseconds(`min(${name})`)} as ${name}`).join(", ")}
from (${rows.join("\n  union all")}
) f (${["record", ...names].join(", ")})`;
  return { text, params: params.values };
}

/** Since when all labels asked for are recorded, in milliseconds since 1970; null: never. */
export type Since = { ms: number | null };

/** What `firstsQuery` tells; null where the labels were recorded from the start. */
export function sinceOf(spec: Spec, [firsts = {}]: readonly AnswerRow[]): Since | null {
  const labels = lateLabels(spec).map((name) => firsts[name] ?? null);
  const known = labels.flatMap((ms) => (ms === null ? [] : [Number(ms)]));
  const ms = known.length === labels.length ? Math.max(...known) : null;
  const record = firsts["record"] ?? null;
  return ms === (record === null ? null : Number(record)) ? null : { ms };
}

/** Measures that count each record of a source once. */
const COUNTED: Readonly<Record<SourceName, readonly MeasureName[]>> = {
  requests: ["requests"],
  tool_calls: ["calls"],
  agent_metrics: ["operations"],
  outcomes: ["merged_prs", "reviews"],
};

/** A report of the records that are older, with the filters that are not by these labels, and within the reader's team. */
export function olderRecords(ask: Ask, since: Since): Ask {
  const { spec, periods, scope } = ask;
  const late = lateLabels(spec);
  const isKept = (name: DimensionName) => !late.includes(name) || (name === "team" && Boolean(scope));
  const filters = Object.fromEntries(filtersOf(spec.filters).filter(([name]) => isKept(name)));
  const before = ({ fromMs, toMs }: Period): Period => ({
    fromMs,
    toMs: Math.max(Math.min(toMs, since.ms ?? toMs), fromMs ?? Number.NEGATIVE_INFINITY),
  });
  return {
    ...ask,
    spec: { ...spec, dimensions: [], measures: [...COUNTED[spec.source]], filters },
    periods: { current: before(periods.current), previous: periods.previous && before(periods.previous) },
  };
}

/** What is known of the labels, with the total of `olderRecords`. */
export function coverageOf(ask: Ask, since: Since, [total = {}]: readonly AnswerRow[]): Coverage {
  const names = ask.spec.source === "outcomes" ? ["merged_prs", "reviews"] : ["records"];
  const older = (side: "c" | "p") =>
    names.reduce((sum, name) => sum + Number(total[`${side}_${name}`] ?? 0), 0);
  return {
    dimensionsSince: since.ms === null ? null : new Date(since.ms).toISOString(),
    rowsBefore: older("c"),
    previousRowsBefore: ask.periods.previous ? older("p") : null,
  };
}
