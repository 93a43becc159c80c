/**
 * A statement for Postgres. Values are parameters, never text. `alone`: so short that further processes of the server
 * would take longer to begin than they save. `long`: it may be so long that one saves much.
 */
export type Query = { text: string; params: readonly Param[]; alone?: boolean; long?: boolean };
export type Param = string | readonly string[];

export type Parameters = ReturnType<typeof parameters>;

/** Collects the parameters of one statement; what `add` returns stands for the value in its text. */
export function parameters() {
  const values: Param[] = [];
  const add = (value: Param, type: string): string => {
    values.push(value);
    return `$${values.length}::${type}`;
  };
  return { values, add, instant: (ms: number) => add(new Date(ms).toISOString(), "timestamptz") };
}
