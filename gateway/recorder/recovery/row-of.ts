import { isRecord, parsedJson } from "#shared/json.ts";
import { rowSum } from "../row-sum.ts";
import { varintAt } from "./leaf-page.ts";

export type FoundRow =
  | { table: "intents"; seq: number; text: string }
  | { table: "settlements"; seq: number; text: string; at: number }
  | { table: "parked"; seq: number; text: string; at: number; code: string };

type Value = number | string | null;

/** The row with that content; null if this program did not write it, or if it has changed. */
export function rowOf(seq: number, payload: Buffer): FoundRow | null {
  const values = valuesOf(payload);
  if (values === null || values[0] !== null) return null;
  const [, a, b, c, ...more] = values;
  if (more.length > 0) return null;
  if (typeof a === "string" && typeof b !== "string" && c === undefined)
    return isWhole({ seq, text: a, sum: b ?? null }) ? { table: "intents", seq, text: a } : null;
  if (typeof a !== "number" || typeof b !== "string") return null;
  if (typeof c === "string") return isObject(c) ? { table: "parked", seq, at: a, code: b, text: c } : null;
  return isWhole({ seq, text: b, sum: c ?? null }) ? { table: "settlements", seq, at: a, text: b } : null;
}

/** By its sum, or, as rows of before 0.3 have none, by its form. */
const isWhole = (row: { seq: number; text: string; sum: number | null }): boolean =>
  row.sum === null ? isObject(row.text) : row.sum === rowSum(row);

const isObject = (text: string): boolean => isRecord(parsedJson(text));

/** The id of the call that a text is about; null if it has none. */
export function idOf(text: string): string | null {
  const record = parsedJson(text);
  return isRecord(record) && typeof record["id"] === "string" ? record["id"] : null;
}

/** The columns of a record (file format, section 2.1). */
function valuesOf(payload: Buffer): Value[] | null {
  const header = varintAt(payload, 0);
  if (!header || header.value > payload.length) return null;
  const values: Value[] = [];
  let at = header.value;
  for (let next = header.next; next < header.value; ) {
    const type = varintAt(payload, next);
    if (!type) return null;
    const value = valueAt(payload, at, type.value);
    if (value === undefined) return null;
    values.push(value.is);
    at += value.bytes;
    next = type.next;
  }
  return at === payload.length ? values : null;
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8];

/** Undefined if it does not fit, or is of a type that no column of ours has. */
function valueAt(payload: Buffer, at: number, type: number): { is: Value; bytes: number } | undefined {
  if (type === 0) return { is: null, bytes: 0 };
  if (type === 8 || type === 9) return { is: type - 8, bytes: 0 };
  const isText = type >= 13 && type % 2 === 1;
  const bytes = isText ? (type - 13) / 2 : INTEGER_BYTES[type];
  if (bytes === undefined || at + bytes > payload.length) return undefined;
  if (isText) return { is: payload.toString("utf8", at, at + bytes), bytes };
  return { is: bytes === 8 ? Number(payload.readBigInt64BE(at)) : payload.readIntBE(at, bytes), bytes };
}
