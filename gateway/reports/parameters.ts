import { type Engine, type ParameterType, POSTGRES } from "./engines.ts";

/** A statement. Values are parameters, never text. `isLong`: it may read so much that a second process of Postgres pays. */
export type Query = { text: string; params: readonly Param[]; isLong?: boolean };
export type Param = string | readonly string[];

/** The driver's types want arrays that may be written to. */
export const sent = ({ params }: Query) => params.map((it) => (typeof it === "string" ? it : [...it]));

export type Parameters = ReturnType<typeof parameters>;

/** Collects the parameters of one statement; what `add` returns stands for the value in its text. A list is sent but once. */
export function parameters(engine: Engine = POSTGRES) {
  const values: Param[] = [];
  const add = (value: Param, type: ParameterType): string => {
    const known = typeof value === "string" ? -1 : values.indexOf(value);
    const place = known < 0 ? values.push(value) : known + 1;
    return engine.parameter(place, type);
  };
  return { values, add, instant: (ms: number) => add(engine.instant(ms), "timestamptz") };
}

type Into = { engine: Engine; params: Parameters; prefix?: string };

/** A relation of rows that are sent with the statement: their columns, as texts. */
export const listedRows = <Name extends string>(
  { engine, params, prefix = "" }: Into,
  rows: readonly Readonly<Partial<Record<Name, string | null>>>[],
  names: readonly Name[],
): string => {
  const texts = (name: Name) => rows.map((row) => row[name] ?? "");
  return engine.rowsOf(
    Object.fromEntries(names.map((name) => [`${prefix}${name}`, params.add(texts(name), "text[]")])),
  );
};
