import type { DimensionName } from "#shared/report.ts";
import type { AggregateName } from "../measures.ts";
import type { Parameters } from "../parameters.ts";
import type { Ask } from "../plan.ts";
import type { Cover } from "./cover.ts";
import type { Kind } from "./kinds.ts";

/** What is counted distinctly: whose column it is, and the names of the counts in each lane. */
export const ENTITIES = {
  person: { column: "person", all: "users", billed: "billed_users" },
  session: { column: "run", all: "sessions", billed: "billed_sessions" },
  hour: { column: "run", all: "active_hours", billed: "billed_hours" },
} as const satisfies Record<string, { column: string; all: AggregateName; billed: AggregateName }>;
export type Entity = keyof typeof ENTITIES;
export const ENTITY_NAMES = Object.keys(ENTITIES) as Entity[];

/** Of a whole day of a cell, faster than from its instant. */
export const OF_DAY: Partial<Record<DimensionName, string>> = {
  day: "r.day::text",
  week: "(r.day - extract(isodow from r.day)::int + 1)::text",
  month: "left(r.day::text, 7)",
};
export const isTimely = (name: DimensionName): name is "day" | "week" | "month" => name in OF_DAY;

/** What a query's parts share. `kind` is null where whole days cannot answer. */
export type Context = {
  ask: Ask;
  dimensions: readonly DimensionName[];
  params: Parameters;
  kind: Kind | null;
  covers: { current: Cover; previous: Cover | null };
  columns: readonly string[];
  names: readonly AggregateName[];
  buckets: readonly string[];
};

export const isAsked = (entity: Entity, names: readonly AggregateName[]): boolean =>
  names.includes(ENTITIES[entity].all) || names.includes(ENTITIES[entity].billed);
