/** The names in a table of facts, in order. Only for a literal: an object may have more members than its type. */
export const keysOf = <Facts extends object>(facts: Facts): (keyof Facts & string)[] =>
  // A literal has exactly the members of its type.
  Object.keys(facts) as (keyof Facts & string)[];

/** Some members of an object. */
export const picked = <It extends object, Name extends keyof It>(it: It, names: readonly Name[]) =>
  // Exactly these names are taken.
  Object.fromEntries(names.map((name) => [name, it[name]])) as Pick<It, Name>;
