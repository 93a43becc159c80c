import type { AggregateName } from "../measures.ts";
import type { Parameters } from "../parameters.ts";
import { type Context, ENTITIES } from "./context.ts";

// Where there are not too many persons, each is a bit of a string: those of a group are then summed up as its costs are,
// by several processes, where every one of its persons would have to be told apart by name.

/** The persons that are counted so: all that may be in the windows; null: they are told apart by name. */
export type People = readonly string[] | null;

/** So many are counted as bits. A string of them is 1.25 kilobytes, and each cell's is added to its group's. */
export const PEOPLE_MAX = 10_000;

/** Joins to each row whose `person` is one of them a string with that one's bit, as `bits`. */
export function bitsOf(people: People, person: string, params: Parameters): string {
  if (people === null) return "";
  // Read in place, so that several processes may read it.
  return `
    left join (
      select name, set_bit(repeat('0', ${people.length})::varbit, place::int - 1, 1) as bits
      from unnest(${params.add(people, "text[]")}) with ordinality p(name, place)
    ) p on p.name = ${person}`;
}

const counted = (lane: string): string => `bit_count(bit_or(people)${lane})`;

/** The counts of persons that are asked for, over facts that carry their bits. */
export const usersOf = ({ people, names }: Context): [AggregateName, string][] =>
  people === null
    ? []
    : [
        [ENTITIES.person.all, counted("")] as [AggregateName, string],
        [ENTITIES.person.billed, counted(" filter (where billed)")] as [AggregateName, string],
      ].filter(([name]) => names.includes(name));
