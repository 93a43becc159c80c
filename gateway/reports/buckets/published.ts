import type { AnswerRow } from "../assemble.ts";
import { CLICKHOUSE } from "../engines.ts";
import { type Parameters, parameters, type Query } from "../parameters.ts";
import { DAY_MS, HOUR_MS, mergedSpans, type Span } from "../rollup/cover.ts";
import { withinSql } from "../rollup/spans.ts";
import type { Period, Periods } from "../window.ts";
import type { LEVELS, Summed } from "./columns.ts";

/** An hour or a day with records. Its sums have this generation, or are void (`ready` false). */
type Bucket = { level: "hour" | "day"; atMs: number; gen: string; ready: boolean };

/** What ClickHouse has of some windows. Single records before `droppedMs` are dropped; null: none are. */
export type Published = { buckets: readonly Bucket[]; droppedMs: number | null; hoursAlone: boolean };

/**
 * Where the records of a window are read: sums of whole days and hours, and single records of hours that the window cuts or
 * whose sums are void. Once all hours are known, one without a bucket has no records.
 */
export type BucketCover = { days: readonly Bucket[]; hours: readonly Bucket[]; raw: readonly Span[] };

export type WantedSums = {
  orgId: string;
  periods: Periods;
  levels: (typeof LEVELS)[Summed];
  hoursAlone: boolean;
  /** Of days alone, and of those that have cells. */
  cells: boolean;
};

/** Asks for the buckets of the windows. Hours of a day that has sums are wanted only if the window cuts that day. */
export function publishedQuery(wanted: WantedSums): Query {
  const { orgId, hoursAlone, cells } = wanted;
  const { current, previous } = wanted.periods;
  const { hour, day, all } = wanted.levels;
  const params = parameters(CLICKHOUSE);
  const periods = [current, ...(previous ? [previous] : [])].map(hourly);
  const within = periods.map((period) => withinSql("at", period, params)).join(" or ");
  const cut = periods.flatMap(({ fromMs, toMs }) => [...(fromMs === null ? [] : [fromMs]), toMs]);
  const days = cut
    .map((ms) => `toDateTime(${params.instant(Math.floor(ms / DAY_MS) * DAY_MS)}, 'UTC')`)
    .join(", ");
  const org = params.add(orgId, "text");
  // Cells have no hours, and an earlier release made days without them.
  const ready = cells
    ? `ready and level = '${day}' and (at, gen) in (select at, gen from cells where org_id = ${org})`
    : "ready";
  const hours = hoursAlone
    ? ""
    : `toStartOfDay(at, 'UTC') in (${days})
    or toStartOfDay(at, 'UTC') not in (select at from summed where org_id = ${org} and level = '${day}' and ${ready})`;
  const text = `select level = '${all}' as known, level = '${day}' as whole, toUnixTimestamp(at) as second, gen, ${ready} as ready from summed
where org_id = ${org} and (level = '${all}' or (${within}) and (level = '${day}' or level = '${hour}' and (${hours || "true"})))`;
  return { text, params: params.values };
}

/** From the hour or day on in which the period begins. */
const hourly = ({ fromMs, toMs }: Period): Period => ({
  fromMs: fromMs === null ? null : Math.floor(fromMs / DAY_MS) * DAY_MS,
  toMs,
});

/** Null if ClickHouse does not know all hours yet (gateway/stores/clickhouse/check-sums.ts). */
export function bucketsOf(rows: readonly AnswerRow[]): Bucket[] | null {
  const buckets = rows.filter(({ known }) => known !== "1");
  if (buckets.length === rows.length) return null;
  return buckets.map(({ whole, second, gen, ready }) => ({
    level: whole === "1" ? "day" : "hour",
    atMs: Number(second) * 1000,
    gen: gen ?? "0",
    ready: ready === "true",
  }));
}

/** Null if single records that the window needs were dropped. An hour of sums alone belongs where it begins. */
export function coverIn(period: Period, { buckets, droppedMs, hoursAlone }: Published): BucketCover | null {
  const dropped = droppedMs ?? Number.NEGATIVE_INFINITY;
  const whole = (ms: number) => (ms < dropped ? Math.ceil(ms / HOUR_MS) * HOUR_MS : ms);
  const fromMs = whole(period.fromMs ?? Number.NEGATIVE_INFINITY);
  const toMs = whole(period.toMs);
  const days = hoursAlone
    ? []
    : buckets.filter(
        ({ level, atMs, ready }) => level === "day" && ready && atMs >= fromMs && atMs + DAY_MS <= toMs,
      );
  const known = new Set(days.map(({ atMs }) => atMs));
  const others = buckets.filter(
    ({ level, atMs }) =>
      level === "hour" &&
      atMs + HOUR_MS > fromMs &&
      atMs < toMs &&
      !known.has(Math.floor(atMs / DAY_MS) * DAY_MS),
  );
  const isWhole = ({ atMs, ready }: Bucket) => ready && atMs >= fromMs && atMs + HOUR_MS <= toMs;
  const cut = others.filter((bucket) => !isWhole(bucket));
  if (cut.some(({ atMs }) => atMs < dropped)) return null;
  const hours = others.filter(isWhole);
  // Hours without a bucket have no records, so adjacent gaps are one span; a year would otherwise have thousands.
  const summed = [...days, ...hours].map(({ atMs }) => atMs).sort((a, b) => a - b);
  let next = 0;
  const raw = cut
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs }) => {
      while ((summed[next] ?? toMs) < atMs) next += 1;
      return { fromMs: Math.max(atMs, fromMs), toMs: Math.min(summed[next] ?? toMs, toMs) };
    });
  return { days, hours, raw: mergedSpans(raw) };
}

/** Which rows of sums are those of the covers. */
export function isSumIn(
  covers: readonly BucketCover[],
  params: Parameters,
  levels: Readonly<Record<"day" | "hour", string>>,
): string {
  const rows = (["day", "hour"] as const).flatMap((level) => {
    const buckets = covers.flatMap((cover) => (level === "day" ? cover.days : cover.hours));
    return buckets.length === 0 ? [] : [`level = '${levels[level]}' and ${generationsOf(buckets, params)}`];
  });
  return rows.join("\n    or ") || "false";
}

export const isCellIn = (covers: readonly BucketCover[], params: Parameters): string =>
  generationsOf(
    covers.flatMap(({ days }) => days),
    params,
  );

// ClickHouse builds a set only from a subquery; an array takes 20 times as long.
function generationsOf(buckets: BucketCover["days"], params: Parameters): string {
  if (buckets.length === 0) return "false";
  const ms = buckets.map(({ atMs }) => atMs);
  const seconds = params.add(
    ms.map((at) => String(at / 1000)),
    "text[]",
  );
  const gens = params.add(
    buckets.map(({ gen }) => gen),
    "text[]",
  );
  return `at >= ${params.instant(Math.min(...ms))} and at <= ${params.instant(Math.max(...ms))}
      and (toUnixTimestamp(at), gen) in (select toUInt32(it.1), toUInt64(it.2) from (select arrayJoin(arrayZip(${seconds}, ${gens})) as it))`;
}
