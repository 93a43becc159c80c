import type { ReplyStep } from "./reply.ts";

export type Json = { readonly [member: string]: unknown };

/** TypeScript's library does not know these yet (proposal "JSON.parse source text access"). */
type ExactParse = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;
const json: object = JSON;
const exactParse: ExactParse = Reflect.get(json, "parse");
const rawJson: (source: string) => unknown = Reflect.get(json, "rawJSON");

/** A text with a number that a double may not represent exactly: 16 digits or more, or an exponent. */
const SUSPECT = /\d{16}|\d[eE]/;

/**
 * The value that the text writes. A number that a double would change (`12345678901234567890`, `1e400`) becomes raw
 * JSON, which `JSON.stringify` writes as it came, so tool arguments survive translation to the digit.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return exactParse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && isChanged(value, source) ? rawJson(source) : value,
  );
}

/** Whether the double differs from the number in its source. `1.0` and `1` are equal. */
function isChanged(value: number, source: string): boolean {
  if (JSON.stringify(value) === source || Number.isSafeInteger(value)) return false;
  return Number.isInteger(value) || !Number.isFinite(value) || source.replace(/\D/g, "").length > 15;
}

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRaw(value);

/** Raw JSON is a frozen object without a prototype and with this one member. */
const isRaw = (value: object): boolean => Object.getPrototypeOf(value) === null && "rawJSON" in value;

/** The object that the text writes, or null when it is no JSON object. */
export function objectIn(text: string): Json | null {
  try {
    const value = parseExactly(text);
    return isJson(value) ? value : null;
  } catch {
    return null;
  }
}

/** A value as text. `String` throws for raw JSON, and for an object with a member `toString`. */
export const wordOf = (value: unknown): string =>
  typeof value === "string" ? value : String(JSON.stringify(value));

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const objectInBytes = (bytes: Uint8Array): Json | null => objectIn(decoder.decode(bytes));

/** A provider's error, which Google's address in OpenAI's format sends in a list of one. */
export const errorInBytes = (bytes: Uint8Array): Json | null =>
  objectIn(decoder.decode(bytes).replace(/^\s*\[([\s\S]*)\]\s*$/, "$1"));

export const jsonBytes = (value: unknown): Uint8Array<ArrayBuffer> => encoder.encode(JSON.stringify(value));

/** Readers of a provider's answer: a missing member, or one of another type, is null. */
export const textIn = (object: Json | null, name: string): string | null => {
  const value = object?.[name];
  return typeof value === "string" ? value : null;
};

export const objectMember = (object: Json | null, name: string): Json | null => {
  const value = object?.[name];
  return isJson(value) ? value : null;
};

export const objectsIn = (object: Json | null, name: string): Json[] => {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isJson) : [];
};

export type StepReader = {
  event(data: Json | "[DONE]"): ReplyStep[];
  /** The stream has ended: what was still held back. */
  rest(): ReplyStep[];
};
