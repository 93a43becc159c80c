import type { PostgresType } from "postgres";

type Element = { parse(text: string): unknown; serialize(value: unknown): string };

const plain: Element = { parse: (text) => text, serialize: String };
const number: Element = { parse: Number, serialize: String };
const truth: Element = { parse: (text) => text === "t", serialize: (value) => (value === true ? "t" : "f") };
const time: Element = {
  parse: (text) => new Date(text),
  serialize: (value) => (value instanceof Date ? value.toISOString() : String(value)),
};
const document: Element = { parse: (text) => JSON.parse(text), serialize: (value) => JSON.stringify(value) };

/** Postgres's number of an array type, and how its elements read; as postgres.js reads the single values. */
const ELEMENTS: readonly [arrayType: number, element: Element][] = [
  [1000, truth],
  [1003, plain], // name
  [1005, number], // int2
  [1007, number], // int4
  [1009, plain], // text
  [1015, plain], // varchar
  [1016, plain], // int8: a string, because it may be over 2^53
  [1021, number], // float4
  [1022, number], // float8
  [1182, time], // date
  [1185, time], // timestamptz
  [1231, plain], // numeric
  [199, document], // json
  [2951, plain], // uuid
  [3807, document], // jsonb
];

/** Array types for postgres.js, which otherwise queries them on each connection: a break just then ends the process. */
export const ARRAY_TYPES: Record<string, PostgresType> = Object.fromEntries(
  ELEMENTS.map(([arrayType, element]) => [
    `array${arrayType}`,
    {
      to: arrayType,
      from: [arrayType],
      serialize: (value: unknown) => (Array.isArray(value) ? writeArray(value, element) : value),
      parse: (text: string) => readArray(text, element),
    },
  ]),
);

function writeArray(values: readonly unknown[], element: Element): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return "NULL";
    if (Array.isArray(value) && element !== document) return writeArray(value, element);
    return `"${element.serialize(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  });
  return `{${items.join(",")}}`;
}

/** One token of an array's text: a brace, a comma, a quoted item (its inside in group 1) or a bare one (group 2). */
const TOKEN = /[{},]|"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs;

function readArray(text: string, element: Element): unknown[] {
  const outermost: unknown[] = [];
  const open: unknown[][] = [outermost];
  // Arrays that do not begin at 1 have their bounds in front.
  for (const [token, quoted, bare] of text.slice(text.indexOf("{")).matchAll(TOKEN)) {
    const current = open.at(-1) ?? outermost;
    if (token === "{") {
      const inner: unknown[] = [];
      current.push(inner);
      open.push(inner);
    } else if (token === "}") open.pop();
    else if (quoted !== undefined) current.push(element.parse(quoted.replace(/\\(.)/gs, "$1")));
    else if (bare !== undefined) current.push(bare === "NULL" ? null : element.parse(bare));
  }
  return Array.isArray(outermost[0]) ? outermost[0] : outermost;
}
