/** The names in a table of facts, in order. Only for a literal: an object may have more members than its type. */
export const keysOf = <Facts extends object>(facts: Facts): (keyof Facts & string)[] =>
  // A literal has exactly the members of its type.
  Object.keys(facts) as (keyof Facts & string)[];
