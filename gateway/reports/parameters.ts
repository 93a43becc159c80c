/**
 * A statement for Postgres. Values are parameters, never text. `alone`: so short that further processes of the server
 * would take longer to begin than they save. `long`: it may be so long that one saves much.
 */
export type Query = { text: string; params: readonly Param[]; alone?: boolean; long?: boolean };
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
