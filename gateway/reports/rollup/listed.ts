import type { Context } from "./context.ts";
import { readsCells } from "./parts.ts";

// Beside sums by one dimension a few thousand single records are read: for what they add to each group, and for who these
// are. A histogram for each of their persons would cost more than all else, so groups list their persons instead.

/** Whether facts are those of single records, and tell of sums and of persons alone. */
export const isListed = ({ entities, covers }: Context): boolean =>
  entities.length === 1 && entities[0] === "person" && !readsCells(covers);

/** The table `name`: each person of the facts that list them. */
export const listedFacts = (name: string, alike: string): string =>
  `${name} as not materialized (
  select f.current, f.d1, f.d2, f.value, f.billed, f.day, p.person
  from ${alike} f cross join lateral unnest(f.persons) p(person)
)`;
