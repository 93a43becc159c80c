import { NONE } from "../dimensions.ts";
import { parameters, type Query } from "../parameters.ts";
import type { Ask } from "../plan.ts";
import { type Context, isByP95 } from "./context.ts";
import { contextOf } from "./context-of.ts";
import { type Cover, DAY_MS, type Span, type Survey } from "./cover.ts";
import { factsSql } from "./facts.ts";
import { isFew } from "./picked.ts";
import { isRanked } from "./ranked.ts";
import { severalSql } from "./several.ts";
import { spansSql } from "./spans.ts";

// Groups of sessions may be as many as cells. Several processes would each make most of them, and one of them all once more
// of theirs. But nearly every session lies on one side of any midnight: so groups are made of the days before it and of those
// after it, each by a process of its own, and of the few sessions that are on both sides, and of records without one, apart.

/** The midnight, and the sessions that may be on both sides of it; null: groups are made at once. */
export type Halves = { midMs: number; apart: readonly string[] } | null;

/** With more than so many sessions on both sides it is done at once. */
const APART_MAX = 10_000;

/** Asks for the last day before the midnight, as `mid`, and for these sessions, as `session`. Null where none is needed. */
export function halvesQuery(ask: Ask, survey: Survey): Query | null {
  const params = parameters();
  const context = contextOf(ask, survey, ask.spec.dimensions, params);
  const { current, previous } = context.covers;
  const days = [...current.days, ...(previous?.days ?? [])];
  if (days.length === 0 || !isHalved(context)) return null;
  const text = `with ${severalSql(context)}
select min(day)::text as mid, null as session from (
  select day, sum(n) over (order by day) as upto, sum(n) over () as records
  from (
    select day, sum(records) as n from rollup_days
    where org_id = ${params.add(ask.orgId, "text")} and kind = 'total' and (${spansSql("day", days, params)}) group by day
  ) d
) d where upto * 2 >= records
union all
(select null, session from several limit ${APART_MAX + 1})`;
  return { text, params: params.values };
}

/** What it tells. */
export function halvesOf(rows: readonly Partial<Record<string, string | null>>[]): Halves {
  const apart = rows.flatMap(({ session }) => session ?? []);
  const day = rows.find(({ mid }) => mid)?.["mid"];
  return day && apart.length <= APART_MAX ? { midMs: Date.parse(day) + DAY_MS, apart } : null;
}

/** Whether groups are of sessions, and chosen by sums of all cells. */
const isHalved = (context: Context): boolean =>
  context.dimensions.includes("session") && isRanked(context) && !isByP95(context.ask) && !isFew(context.ask);

/** The tables of facts, each of which has all facts of its groups. */
export const HALVES = ["ranking_before", "ranking_after", "ranking_apart"] as const;

export function factsOfHalves(context: Context, { midMs, apart }: NonNullable<Halves>): string[] {
  const { params } = context;
  // A session may be named as those are shown that have none.
  const names = params.add([...apart, NONE], "text[]");
  const whole = [`session is not null and session <> all(${names})`];
  const others = [`session = any(${names})`, "session is null"];
  const before = { fromMs: Number.NEGATIVE_INFINITY, toMs: midMs };
  const after = { fromMs: midMs, toMs: Number.POSITIVE_INFINITY };
  const facts = [
    factsSql(ofDays(context, before), context.dimensions, null, whole),
    factsSql(ofDays(context, after), context.dimensions, null, whole),
    factsSql(context, context.dimensions, null, others),
  ];
  return HALVES.map((name, i) => `${name} as not materialized (${facts[i]}\n)`);
}

/** The days of its windows that lie in a span, and nothing else. */
function ofDays(context: Context, { fromMs, toMs }: Span): Context {
  const cut = (cover: Cover): Cover => ({
    ...NOTHING,
    days: cover.days
      .map((span) => ({ fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) }))
      .filter((span) => span.fromMs < span.toMs),
  });
  const { current, previous } = context.covers;
  return { ...context, covers: { current: cut(current), previous: previous && cut(previous) } };
}

const NOTHING: Cover = { sums: null, quarters: null, days: [], hours: [], raw: [], told: null };
