import type { Context, Section } from "./context.ts";
import { activePart, activeSql } from "./distinct.ts";
import { factsSql } from "./facts.ts";
import { isApart, sumsByGroup, sumsOfBase } from "./parts.ts";
import { baseOfSeveral, COUNTED, severalParts } from "./several.ts";

// Groups, or all, of cells that tell by themselves how many sessions and hours they count for.

/** Whether sessions and hours are sums of cells, and persons told apart from these. */
export const isCounted = (context: Context): boolean => context.counting !== null && isApart(context);
/** Whether sessions or hours are asked for. */
export const hasRuns = ({ entities }: Context): boolean => entities.some((entity) => entity !== "person");
const hasPersons = ({ entities }: Context): boolean => entities.includes("person");

/** The facts `name`: those that are summed up, those of persons, and those of sessions of several rows. */
export function countedFacts(context: Context, { dimensions, kind }: Section, name: string): string[] {
  const who = { ...context, columns: [] };
  const people = { ...who, entities: ["person"] as const, counting: null };
  const runs = { ...who, entities: context.entities.filter((entity) => entity !== "person") };
  return [
    `${name}_alike as not materialized (${factsSql({ ...context, entities: [] }, dimensions, kind)}\n)`,
    ...(hasPersons(context)
      ? [`${name}_people as not materialized (${factsSql(people, dimensions, kind)}\n)`]
      : []),
    ...(hasRuns(context)
      ? [`${name}_several as not materialized (${factsSql(runs, dimensions, kind, "several")}\n)`]
      : []),
  ];
}

export const countedSums = (context: Context, section: Section, name: string): string[] => [
  `sums_of_${name} as materialized (${sumsByGroup(context, `${name}_alike`, COUNTED)}\n)`,
  ...(hasPersons(context)
    ? [`persons_of_${name} as materialized (${activeSql(context, section, "person", `${name}_people`)}\n)`]
    : []),
  ...(hasRuns(context) ? [`base_of_${name} as materialized (${baseOfSeveral(`${name}_several`)}\n)`] : []),
];

export const countedParts = (context: Context, section: Section, name: string): string[] => [
  sumsOfBase(context, section, `sums_of_${name}`, Object.keys(COUNTED)),
  ...(hasPersons(context) ? [activePart(context, section, "person", `persons_of_${name}`)] : []),
  ...(hasRuns(context) ? severalParts(context, section, `base_of_${name}`) : []),
];
