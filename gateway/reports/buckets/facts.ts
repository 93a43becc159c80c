import type { DimensionName } from "#shared/report.ts";
import { namedIn } from "../aggregates.ts";
import { type Context, groupColumns, type Section, totalIsApart } from "../context.ts";
import { dimensionOf, filterSql, isOrdered } from "../dimensions.ts";
import { KEY_NAMES, relationOf } from "../relations.ts";
import { spansSql, withinSql } from "../rollup/spans.ts";
import { asksForLane, filtersOf } from "../spec.ts";
import { BUCKET_COLUMNS, bucketColumn, isSummed, LEVELS, textOfKind } from "./columns.ts";
import { bucketFigure } from "./figures.ts";
import { coverIn, isCellIn, isSumIn } from "./published.ts";

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
  const columns = namedIn(
    context.names.map((name) => bucketFigure(context.buckets, name)),
    BUCKET_COLUMNS,
  ).map(bucketColumn);
  const isCells = context.buckets === "cells";
  const ofRecord = (name: DimensionName) => dimensionOf(name, ask).records;
  const kind = section.total && totalIsApart(context) && !isCells ? "total" : context.buckets;
  const ofKind = (name: DimensionName) => textOfKind(kind ?? "total", name);
  const filters = filtersOf(spec.filters).map(([name, values]) =>
    filterSql(name, params.add(values, "text[]"), ask),
  );
  const names = [...section.dimensions, ...filtersOf(spec.filters).map(([name]) => name)].includes("key")
    ? KEY_NAMES
    : "";
  const raw = spansSql(
    "r.started_at",
    covers.flatMap((cover) => cover.raw),
    params,
  );
  const org = `r.org_id = ${params.add(ask.orgId, "text")}`;
  const chosen = () =>
    filtersOf(spec.filters).map(([name, values]) =>
      name === "channel" && kind !== name
        ? "not r.billed"
        : `${ofKind(name)} in ${params.add(values, "text[]")}`,
    );
  const facts = (of: "sum" | "cell" | "record", billed: string, text: (name: DimensionName) => string) => `
  select ${current} as current, ${groupColumns(context, section.dimensions.map(text))},
    ${asksForLane(spec) ? "true" : billed} as billed, ${columns.map((column) => column[of]).join(", ")}`;
  const added = isCells
    ? `${facts("cell", "r.channel <> 'subscription'", ofRecord)}
  from (select *, person, run, true as attributed, at as started_at from cells where ${isCellIn(covers, params)}) r${names}
  where ${[org, ...filters].join(" and ")}`
    : `${facts("sum", "r.billed", (name) => (isOrdered(name) ? ofRecord(name) : ofKind(name)))}
  from (select *, at as started_at from sums where org_id = ${params.add(ask.orgId, "text")} and kind = '${kind}'
    and (${isSummed(spec.source) ? isSumIn(covers, params, LEVELS[spec.source]) : "false"})) r${names.replace("r.key_id", "toUUIDOrNull(r.value)")}
  where ${[org, ...chosen()].join(" and ")}`;
  return `${added}
  union all ${facts("record", "r.metered", ofRecord)}
  from ${relationOf(ask, params, raw)} r${names}
  where ${[org, `(${raw})`, ...filters].join(" and ")}`;
}
