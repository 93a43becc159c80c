import type { DimensionName } from "#shared/report.ts";
import type { Parameters } from "../parameters.ts";
import type { Context } from "./context.ts";
import { factsSql } from "./facts.ts";
import type { Kind } from "./kinds.ts";

// Of a report that may have far more groups than rows are shown, those that are shown were asked for first.

/** A group of the report's, by its labels. */
export type Group = { d1: string; d2: string };

/** The table `ranked`: the groups that are shown. It is read in place, so that several processes may read it. */
export function chosenSql(chosen: readonly Group[], params: Parameters): string {
  const d1 = params.add(
    chosen.map((group) => group.d1),
    "text[]",
  );
  const d2 = params.add(
    chosen.map((group) => group.d2),
    "text[]",
  );
  return `ranked as not materialized (select d1 collate "C" as d1, d2 collate "C" as d2 from unnest(${d1}, ${d2}) c(d1, d2))`;
}

/** The facts of all groups, or (`ranked`) of those alone; `among`: of which cells, if not of theirs. */
export function factsOfGroups(
  context: Context,
  dimensions: readonly DimensionName[],
  kind: Kind | null,
  ranked: boolean,
  among: string | null = ranked ? "ranked" : null,
): string {
  const sql = factsSql(context, dimensions, kind, among);
  if (!ranked) return sql;
  return `
  select f.* from (${sql}
  ) f where (f.d1, f.d2) in (select d1, d2 from ranked)`;
}
