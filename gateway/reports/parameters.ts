/** A statement for Postgres. Values are parameters, never text. `isLong`: it may read so much that a second process pays. */
export type Query = { text: string; params: readonly Param[]; isLong?: boolean };
export type Param = string | readonly string[];

export type Parameters = ReturnType<typeof parameters>;

/** Collects the parameters of one statement; what `add` returns stands for the value in its text. A list is sent but once. */
export function parameters() {
  const values: Param[] = [];
  const add = (value: Param, type: string): string => {
    const known = typeof value === "string" ? -1 : values.indexOf(value);
    const place = known < 0 ? values.push(value) : known + 1;
    return `$${place}::${type}`;
  };
  return { values, add, instant: (ms: number) => add(new Date(ms).toISOString(), "timestamptz") };
}
