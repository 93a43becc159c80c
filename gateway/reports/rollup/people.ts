import { parameters, type Query } from "../parameters.ts";
import type { Ask } from "../plan.ts";
import type { Context } from "./context.ts";
import { contextOf } from "./context-of.ts";
import type { Survey } from "./cover.ts";
import { keySql } from "./keys.ts";
import { readsCells } from "./parts.ts";
import { pickingSql } from "./picked.ts";
import { spansSql } from "./spans.ts";

/**
 * Asks for the persons of a report's windows, as `person`, and for no more than `most` and one: where they may be counted
 * as bits (bits.ts). Null where a report counts none so.
 */
export function peopleQuery(ask: Ask, survey: Survey, most: number): Query | null {
  const params = parameters();
  const contexts = [ask.spec.dimensions, []].map((dimensions) =>
    contextOf(ask, survey, dimensions, params, { people: [] }),
  );
  const context = contexts.find(({ people, covers }) => people !== null && readsCells(covers));
  if (!context) return null;
  const text = `select distinct person from (${SOURCES.flatMap((source) => personsOf(context, source)).join("\n  union all")}
) p where person is not null limit ${most + 1}`;
  return { text, params: params.values, long: true };
}

const SOURCES = [
  { table: "rollup_sessions", at: "day", which: "days" },
  { table: "rollup_hours", at: "hour", which: "hours" },
  { table: "requests", at: "started_at", which: "raw" },
] as const;

function personsOf(
  { ask, params, covers: { current, previous } }: Context,
  { table, at, which }: (typeof SOURCES)[number],
): string[] {
  const spans = [...current[which], ...(previous?.[which] ?? [])];
  if (spans.length === 0) return [];
  // Other filters than those by channel and time leave few cells (context-of.ts). Hours and records are those of edges.
  const picking = which === "days" ? pickingSql({ ask, params }, "rollup_sessions") : "";
  return [
    `
  select ${keySql("person", "r.")} as person from ${table} r
  where org_id = ${params.add(ask.orgId, "text")} and (${spansSql(at, spans, params)})${picking}
  group by 1`,
  ];
}
