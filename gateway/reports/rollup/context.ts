import type { DimensionName } from "#shared/report.ts";
import type { AggregateName } from "../measures.ts";
import type { Parameters } from "../parameters.ts";
import type { Ask } from "../plan.ts";
import type { People } from "./bits.ts";
import { type Cover, DAY_MS, down, HOUR_MS, mondayOf, type Span } from "./cover.ts";
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

/** Whether there may be hundreds of thousands of groups: those of sessions, and those of persons by something else. */
export const hasManyGroups = (dimensions: readonly DimensionName[]): boolean =>
  dimensions.includes("session") || (dimensions.includes("subject") && new Set(dimensions).size > 1);

export const P95 = "latency_p95_ms" satisfies AggregateName;

/** Whether rows are in order of the percentile. */
export const isByP95 = ({ spec }: Ask): boolean => spec.measures[0] === P95;

/** Whether sessions or hours are asked for. */
export const hasRuns = (entities: readonly Entity[]): boolean =>
  entities.some((entity) => entity !== "person");

/** What a query's parts share. `kind` is null where sums by one dimension cannot answer. */
export type Context = {
  ask: Ask;
  dimensions: readonly DimensionName[];
  params: Parameters;
  kind: Kind | null;
  covers: { current: Cover; previous: Cover | null };
  /** Weeks before this Monday are summed up. */
  weeksToMs: number;
  names: readonly AggregateName[];
  /** The aggregates that are sums, `uncertain` among them, and those that count distinctly. */
  columns: readonly string[];
  entities: readonly Entity[];
  /** Whether groups are summed up of cells by themselves, where no sums by one dimension tell of them. */
  isSummed: boolean;
  /** Persons that are counted as bits (bits.ts); null: none are. */
  people: People;
  /** Facts list the persons of single records beside their sums, as `persons` (listed.ts). */
  listed: boolean;
  /** The column by which cells count sessions (several.ts); null: sessions are told apart. */
  counting: string | null;
  /** Cells of days that filters leave count as one for each session and its keys on a day (picked.ts). */
  byRun: boolean;
};

/** Rows of the answer that are made alike: its groups, or all in one (`total`). */
export type Section = { total: boolean; dimensions: readonly DimensionName[]; kind: Kind | null };

export const isAsked = (entity: Entity, names: readonly AggregateName[]): boolean =>
  names.includes(ENTITIES[entity].all) || names.includes(ENTITIES[entity].billed);

/** The distinct counts asked for. */
export const countsOf = ({ entities, names }: Pick<Context, "entities" | "names">): AggregateName[] =>
  entities
    .flatMap((entity) => [ENTITIES[entity].all, ENTITIES[entity].billed])
    .filter((name) => names.includes(name));

/**
 * A window's span of sums: whole days, and the hours from 0 to before `toHour` of the day `toDay`. Of the days those in
 * `weeks` make up whole weeks. Who was active is known of what comes before `endMs`, where single records are `told` too.
 */
export type Reach = {
  current: boolean;
  fromDay: string;
  toDay: string;
  toHour: number;
  weeks: { fromDay: string; toDay: string } | null;
  quarters: Span | null;
  span: Span;
  told: Span | null;
  endMs: number;
};

export const reachesOf = ({ covers: { current, previous }, weeksToMs }: Context): Reach[] => {
  const sides = [
    { current: true, cover: current },
    { current: false, cover: previous },
  ];
  return sides.flatMap(({ current, cover }) => {
    if (!cover?.sums) return [];
    const { sums: span, quarters, told } = cover;
    const endMs = told?.toMs ?? span.toMs;
    const [fromDay, toDay] = [dayOf(span.fromMs), dayOf(span.toMs)];
    // An hour of which the sums tell in part is one of theirs.
    const toHour = Math.ceil((span.toMs - down(DAY_MS, span.toMs)) / HOUR_MS);
    // Before the first day there is nothing.
    if (fromDay === toDay && endMs === down(DAY_MS, endMs)) return [];
    const weeks = {
      // Sums begin at a midnight.
      fromMs: mondayOf(span.fromMs + 6 * DAY_MS),
      toMs: mondayOf(Math.min(span.toMs, weeksToMs)),
    };
    const whole = weeks.fromMs < weeks.toMs && { fromDay: dayOf(weeks.fromMs), toDay: dayOf(weeks.toMs) };
    return [{ current, span, fromDay, toDay, toHour, weeks: whole || null, quarters, told, endMs }];
  });
};

export const dayOf = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : "0001-01-01";
