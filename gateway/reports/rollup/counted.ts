import { usersOf } from "./bits.ts";
import { factsOfGroups } from "./chosen.ts";
import { type Context, ENTITIES, hasRuns, isTimely, type Section } from "./context.ts";
import { activePart, activeSql } from "./distinct.ts";
import { baseSql, isApart, partSql, sumsByGroup, sumsOfBase } from "./parts.ts";
import { baseOfSeveral, COUNTED, severalParts } from "./several.ts";

// Groups, or all, of cells that tell by themselves how many sessions and hours they count for.

/** Whether sessions and hours are sums of cells, and persons are, as bits, or are told apart from these. */
export const isCounted = (context: Context): boolean =>
  context.isSummed && (context.counting !== null || !hasRuns(context.entities)) && isApart(context);
/** Whether persons are told apart by name. */
const hasPersons = ({ entities, people }: Context): boolean => entities.includes("person") && people === null;
/**
 * Whether the sums of a section tell of its persons, too: groups of persons are hardly fewer without them, and of those that
 * are chosen (`ranked`) there are few.
 */
const withPersons = (
  context: Context,
  { dimensions }: Pick<Section, "dimensions">,
  ranked: boolean,
): boolean => hasPersons(context) && (ranked || dimensions.includes("subject")) && !dimensions.some(isTimely);

/** What of sessions and hours is asked for. */
const runsOf = ({ entities }: Context): Record<string, string> =>
  Object.fromEntries(
    entities.flatMap((entity) =>
      entity === "person"
        ? []
        : [ENTITIES[entity].all, ENTITIES[entity].billed].map((name) => [name, COUNTED[name]]),
    ),
  );

/** What the sums tell of it and of persons: of cells that count as one for each session it is summed up apart. */
const inSumsOf = (context: Context): Record<string, string> => ({
  ...(context.byRun ? {} : runsOf(context)),
  ...Object.fromEntries(usersOf(context)),
});

/** Sessions of hours and of single records are told apart, so that they count for none. */
const ofDays = ({ covers: { current, previous } }: Context): Context["covers"] => {
  const alone = { hours: [], raw: [] };
  return { current: { ...current, ...alone }, previous: previous && { ...previous, ...alone } };
};

/**
 * The facts `name`: those that are summed up, those of persons where sums do not tell of them, and those of sessions of
 * several rows; `ranked`: of the groups that are chosen before.
 */
export function countedFacts(
  context: Context,
  { dimensions, kind }: Section,
  name: string,
  ranked: boolean,
): string[] {
  const who = { ...context, columns: [], people: null };
  const persons = { ...who, entities: ["person"] as const, counting: null };
  const runs = { ...who, entities: context.entities.filter((entity) => entity !== "person") };
  const inSums = withPersons(context, { dimensions }, ranked);
  const alike = {
    ...context,
    entities: inSums ? persons.entities : [],
    ...(context.byRun && { counting: null }),
  };
  const facts = (which: string, own: Context, among?: string) =>
    `${name}_${which} as not materialized (${factsOfGroups(own, dimensions, kind, ranked, among)}\n)`;
  return [
    facts("alike", alike),
    ...(context.byRun ? [facts("runs", { ...who, entities: [], covers: ofDays(context) })] : []),
    ...(hasPersons(context) && !inSums ? [facts("people", persons)] : []),
    ...(hasRuns(context.entities) ? [facts("several", runs, "several")] : []),
  ];
}

export const countedSums = (context: Context, section: Section, name: string, ranked: boolean): string[] => [
  `sums_of_${name} as materialized (${
    withPersons(context, section, ranked)
      ? baseSql({ entities: ["person"] }, context.columns, `${name}_alike`, inSumsOf(context))
      : sumsByGroup(context, `${name}_alike`, inSumsOf(context))
  }\n)`,
  ...(hasPersons(context)
    ? [
        `persons_of_${name} as (${activeSql(context, section, "person", withPersons(context, section, ranked) ? `sums_of_${name}` : `${name}_people`)}\n)`,
      ]
    : []),
  ...(hasRuns(context.entities)
    ? [`base_of_${name} as materialized (${baseOfSeveral(`${name}_several`)}\n)`]
    : []),
];

export const countedParts = (context: Context, section: Section, name: string, ranked: boolean): string[] => [
  sumsOfBase(
    context,
    section,
    `sums_of_${name}`,
    Object.keys(inSumsOf(context)),
    withPersons(context, section, ranked),
  ),
  ...(context.byRun ? [partSql(context, section, runsOf(context), `${name}_runs`)] : []),
  ...(hasPersons(context) ? [activePart(context, section, "person", `persons_of_${name}`)] : []),
  ...(hasRuns(context.entities) ? severalParts(context, section, `base_of_${name}`) : []),
];
