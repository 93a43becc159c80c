import type { DimensionName } from "#shared/report.ts";
import { namedIn } from "../aggregates.ts";
import { type Context, groupColumns, type Section, totalIsApart } from "../context.ts";
import { dimensionOf, filterSql, isOrdered } from "../dimensions.ts";
import type { Parameters } from "../parameters.ts";
import { relationOf } from "../relations.ts";
import { spansSql, withinSql } from "../rollup/spans.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { BUCKET_COLUMNS, bucketColumn, isSummed, LEVELS, textOfKind } from "./columns.ts";
import { bucketFigure } from "./figures.ts";
import { type BucketCover, coverIn } from "./published.ts";

/** The facts of both windows: rows of sums, and single records of hours that have none or are cut. */
export function bucketFacts(context: Context, section: Section): string {
  const { ask, params } = context;
  const { spec, periods, published } = ask;
  const covers = [periods.current, ...(periods.previous ? [periods.previous] : [])].flatMap((period) => {
    const cover = published && coverIn(period, published);
    return cover ? [cover] : [];
  });
  const current = withinSql(
    "r.started_at",
    { fromMs: periods.current.fromMs, toMs: Number.POSITIVE_INFINITY },
    params,
  );
  const columns = namedIn(context.names.map(bucketFigure), BUCKET_COLUMNS).map(bucketColumn);
  const billed = asksForLane(spec) ? "true" : null;
  const groups = (texts: readonly string[]) => groupColumns(context, texts);
  const kind = section.total && totalIsApart(context) ? "total" : context.buckets;
  const ofKind = (name: DimensionName) => textOfKind(kind ?? "total", name);
  const isNamed =
    kind === "key" ? ["left join keys k on k.org_id = r.org_id and k.id = toUUIDOrNull(r.value)"] : [];
  const chosen = filtersOf(spec.filters).map(([name, values]) =>
    name === "channel" && kind !== name
      ? "not r.billed"
      : `${ofKind(name)} in ${params.add(values, "text[]")}`,
  );
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(values, "text[]"), ask),
  );
  const keys = kind === "key" ? ["left join keys k on k.org_id = r.org_id and k.id = r.key_id"] : [];
  const raw = spansSql(
    "r.started_at",
    covers.flatMap((cover) => cover.raw),
    params,
  );
  const org = `r.org_id = ${params.add(ask.orgId, "text")}`;
  return `
  select ${current} as current, ${groups(section.dimensions.map((name) => (isOrdered(name) ? dimensionOf(name, ask).records : ofKind(name))))},
    ${billed ?? "r.billed"} as billed, ${columns.map(({ sum }) => sum).join(", ")}
  from (select *, at as started_at from sums where org_id = ${params.add(ask.orgId, "text")} and kind = '${kind}'
    and (${isSummed(spec.source) ? rowsOf(covers, params, LEVELS[spec.source]) : "false"})) r ${isNamed}
  where ${[org, ...chosen].join(" and ")}
  union all
  select ${current} as current, ${groups(section.dimensions.map((name) => dimensionOf(name, ask).records))},
    ${billed ?? "r.metered"} as billed, ${columns.map(({ record }) => record).join(", ")}
  from ${relationOf(ask, params, raw)} r ${keys}
  where ${[org, `(${raw})`, ...filters].join(" and ")}`;
}

/** Which rows of sums are those of the covers. */
function rowsOf(
  covers: readonly BucketCover[],
  params: Parameters,
  levels: Readonly<Record<"day" | "hour", string>>,
): string {
  const rows = (["day", "hour"] as const).flatMap((level) => {
    const buckets = covers.flatMap((cover) => (level === "day" ? cover.days : cover.hours));
    if (buckets.length === 0) return [];
    const ms = buckets.map(({ atMs }) => atMs);
    const seconds = params.add(
      ms.map((at) => String(at / 1000)),
      "text[]",
    );
    const gens = params.add(
      buckets.map(({ gen }) => gen),
      "text[]",
    );
    return [
      `level = '${levels[level]}' and at >= ${params.instant(Math.min(...ms))} and at <= ${params.instant(Math.max(...ms))}
      and (toUnixTimestamp(at), gen) in arrayZip(arrayMap(x -> toUInt32(x), ${seconds}), arrayMap(x -> toUInt64(x), ${gens}))`,
    ];
  });
  return rows.join("\n    or ") || "false";
}
