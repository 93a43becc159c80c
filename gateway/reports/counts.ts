/** Aggregates of ClickHouse in the place of Postgres's sets of members. */
export const CLICKHOUSE_COUNTS = {
  distinct: (columns: string, where = "") => `uniqExact(${columns})${where && ` filter (where ${where})`}`,
  /** The sum of an amount that is the same in all rows of a key. Null if it is nowhere known. */
  sumOnce: (key: string, amount: string, where = "true") => {
    const known = `${key} is not null and ${amount} is not null and ${where}`;
    return `case when count(*) filter (where ${known}) > 0 then arraySum(x -> x.2,
      groupUniqArray((assumeNotNull(${key}), assumeNotNull(${amount}))) filter (where ${known})) end`;
  },
  /** As `rankedSql`, of an amount that is the same in all rows of a key. */
  ranked: (key: string, amount: string, places: readonly string[]) => {
    const known = `${key} is not null and ${amount} is not null`;
    const all = `arraySort(arrayMap(x -> x.2,
      groupUniqArray((assumeNotNull(${key}), assumeNotNull(${amount}))) filter (where ${known})))`;
    const n = `uniqExact(${key}) filter (where ${known})`;
    const at = places.map((place) => placeOf(place, n));
    const sum = at.map((place) => `${all}[toUInt32(${place})]`).join(" + ");
    return `case when ${at.map((place) => `${place} between 1 and ${n}`).join(" and ")} then (${sum}) / ${at.length} end`;
  },
};

const placeOf = (place: string, n: string): string => place.replaceAll(/\bn\b/g, `(${n})`);

/** The mean of the amounts at these places of their ascending order; `n` is how many amounts there are. Null beyond it. */
export function rankedSql(amount: string, places: readonly string[]): string {
  const all = `(array_agg(${amount} order by ${amount}) filter (where ${amount} is not null))`;
  const at = places.map((place) => `${all}[(${placeOf(place, `count(${amount})`)})::int]`);
  return at.length === 1 ? at.join() : `(${at.join(" + ")}) * ${1 / at.length}`;
}
