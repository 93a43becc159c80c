import type { DimensionName } from "#shared/report.ts";
import { type AggregateName, aggregatesOf } from "../measures.ts";
import type { Parameters } from "../parameters.ts";
import type { Ask } from "../plan.ts";
import { filtersOf } from "../spec.ts";
import type { Period } from "../window.ts";
import type { People } from "./bits.ts";
import { type Context, ENTITIES, ENTITY_NAMES, hasRuns, isAsked, isByP95, isTimely, P95 } from "./context.ts";
import { coverOf, type Survey } from "./cover.ts";
import { isFine, isKind, type Kind, QUARTER_KINDS } from "./kinds.ts";
import { OVER_CELLS } from "./parts.ts";
import { isFew } from "./picked.ts";
import { isRanked } from "./ranked.ts";
import { countingHours } from "./several.ts";

const COUNTED: readonly string[] = ENTITY_NAMES.flatMap((entity) => [
  ENTITIES[entity].all,
  ENTITIES[entity].billed,
]);

/**
 * What a query needs to know to answer, in groups or in all; `ranking`: of nothing but the order of its rows. `people`: the
 * persons that may be counted as bits.
 */
export function contextOf(
  ask: Ask,
  survey: Survey,
  dimensions: readonly DimensionName[],
  params: Parameters,
  { ranking = false, people = null }: { ranking?: boolean; people?: People } = {},
): Context {
  // The order is that of the first measure.
  const names = aggregatesOf(ask.spec.measures.slice(0, ranking ? 1 : undefined));
  // Rows that are not made of sums are not chosen by sums either, though an order that counts nobody might be.
  const kind = ranking ? null : kindOf(ask, dimensions, names);
  const quartered = kind !== null && QUARTER_KINDS.includes(kind) ? survey.quarteredMs : [];
  const entities = ENTITY_NAMES.filter((entity) => isAsked(entity, names));
  const edge = { quarteredMs: quartered, firstsMs: survey.firstsMs, who: entities.length > 0 };
  const cover = (period: Period) => coverOf(period, survey, kind !== null, edge);
  const { current, previous } = ask.periods;
  // What tells whether a row is there, and whether its money is known, is always summed; the order needs neither.
  const columns = new Set<string>([
    ...(ranking ? [] : ["records", "uncertain"]),
    ...names,
    ...(names.includes(P95) ? ["latencies"] : []),
    // By how many calls there are it is told what a percentile can be at most (ranked-by-p95.ts).
    ...(isByP95(ask) ? ["latency_count"] : []),
  ]);
  const context: Context = {
    ask,
    dimensions,
    params,
    kind,
    covers: { current: cover(current), previous: previous && cover(previous) },
    weeksToMs: survey.weeksToMs,
    names,
    columns: [...columns].filter((name) => name in OVER_CELLS),
    entities,
    isSummed: false,
    listed: false,
    people: null,
    counting: null,
    byRun: false,
  };
  const byP95 = isRanked(context) && isByP95(ask);
  const isSummed = kind === null && !dimensions.includes("session") && !byP95;
  return isSummed ? summed(context, people) : context;
}

/** Groups of a person, and of a key that is theirs, are hardly fewer without persons; but cells by model and route are many. */
const areOfOne = (dimensions: readonly DimensionName[]): boolean =>
  dimensions.includes("subject") || (dimensions.includes("key") && !dimensions.some(isFine));

/** How those who are counted distinctly are, where groups are summed up. */
function summed(context: Context, people: People): Context {
  const { ask, dimensions, entities } = context;
  const counting = hasRuns(entities) ? countingHours(ask, dimensions) : null;
  const byRun = hasRuns(entities) && counting === null && !dimensions.some(isFine);
  // Of few cells persons are told apart sooner than asked for.
  const asBits = entities.includes("person") && !areOfOne(ask.spec.dimensions) && !isFew(ask);
  return {
    ...context,
    isSummed: true,
    people: asBits ? people : null,
    counting: byRun ? "hours" : counting,
    byRun,
  };
}

/**
 * The kind of sums that answers: the one dimension asked for beside times, or all in all. Filters choose cells; but one
 * by channel may choose sums, where nothing is counted distinctly.
 */
function kindOf(
  { spec }: Ask,
  dimensions: readonly DimensionName[],
  names: readonly AggregateName[],
): Kind | null {
  const [kind = "total", ...others] = new Set(dimensions.filter((name) => !isTimely(name)));
  if (others.length > 0 || !isKind(kind)) return null;
  const filters = filtersOf(spec.filters).map(([name]) => name);
  if (filters.length === 0) return kind;
  const distinct = names.some((name) => COUNTED.includes(name));
  return filters.every((name) => name === "channel") && !distinct ? kind : null;
}
