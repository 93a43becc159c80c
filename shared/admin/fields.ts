import { type TSchema, Type } from "@sinclair/typebox";
import { boundedText, checked, closed, isCalendarDate, matching, nullable } from "../schema.ts";

/** Name of a provider, a guardrail and the like, as in addresses. */
export const Name = matching(
  "^[a-z0-9][a-z0-9_-]{0,63}$",
  "1 to 64 of a-z, 0-9, _ and -, beginning with a letter or a digit",
  { description: "1 to 64 of a-z, 0-9, _ and -." },
);

/** A repository on GitHub. */
export const RepositoryField = (description: string) =>
  matching("^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$", "a repository as owner/name", { description });

/** Name of a route, as in `model`: vendors' own model names fit. Percent-encoded in addresses. */
export const ROUTE_NAME = /^[a-z0-9][a-z0-9._/-]{0,63}$/;

/** One line of 1 to `maxLength` characters: no control characters, those that change the direction of text included. */
export const SingleLine = (maxLength: number, description?: string) =>
  boundedText(
    {
      minLength: 1,
      maxLength,
      pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$",
      ...(description && { description }),
    },
    "a control character",
  );

/** A secret that is sent in a header, which holds nothing else: a character that no one sees would fail every call. */
export const Credential = (description?: string) =>
  matching("^[\\u0020-\\u007e]{1,8192}$", "1 to 8192 printable ASCII characters", {
    ...(description && { description }),
  });

/** Text of up to `maxLength` characters that Postgres can store: anything but NUL. */
export const Prose = (maxLength: number, description: string) =>
  boundedText({ maxLength, pattern: "^[^\\u0000]*$", description }, "NUL");

const DATE_TIME =
  /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** The last instant that RFC 3339 has, in milliseconds: an offset can place a time after it. */
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** Milliseconds since 1970, from RFC 3339 with any offset or from a date (its midnight, UTC); null for anything else. */
export function readInstant(text: string): number | null {
  const isDate = isCalendarDate(text.slice(0, 10)) && (text.length === 10 || DATE_TIME.test(text));
  return isDate && Date.parse(text) <= LAST_MS ? Date.parse(text) : null;
}

const DAY_MS = 86_400_000;

/** The same for the end of a half-open window, where a date includes its whole day. */
export function readEnd(text: string): number | null {
  const atMs = readInstant(text);
  return atMs !== null && text.length === 10 ? Math.min(atMs + DAY_MS, LAST_MS) : atMs;
}

export const Instant = (description: string) =>
  checked<string>(
    { type: "string", format: "date-time", description },
    "an RFC 3339 date-time or a date",
    (value) => typeof value === "string" && readInstant(value) !== null,
  );

const DECIMAL = /^(0|[1-9]\d{0,11})(\.\d{1,18})?$/;

/** An exact, non-negative decimal as text, or null: at most 12 digits before and 18 after the point. */
export function readDecimal(value: unknown): string | null {
  const text = typeof value === "number" ? plainDigits(value) : value;
  return typeof text === "string" && DECIMAL.test(text) ? text : null;
}

/** Shortest decimal digits that are this number again, without an exponent: 5e-8 is `0.00000005`. */
function plainDigits(value: number): string {
  const [digits = "", exponent] = String(value).split("e");
  if (!exponent || Number(exponent) > 0) return String(value);
  const [whole = "", fraction = ""] = digits.split(".");
  return `0.${whole.padStart(-Number(exponent), "0")}${fraction}`;
}

/** Money: a string keeps all its digits; a number means its shortest decimal form. */
export const Usd = (description: string) =>
  checked<string | number>(
    { type: ["string", "number"], minimum: 0, description },
    "a decimal number, 0 or more, with at most 12 digits before and 18 after the point",
    (value) => readDecimal(value) !== null,
  );

/** One page of a list: pass `next` as `after` for the following page; null on the last one. */
export const pageOf = <T extends TSchema>(item: T) =>
  closed({ data: Type.Array(item), has_more: Type.Boolean(), next: nullable(Type.String()) });

export type Page<T> = { data: T[]; has_more: boolean; next: string | null };

/** When a row was made and last changed. */
export const Dated = { created_at: Type.String(), updated_at: Type.String() };

/** The body that creates a resource with a name. */
export type NamedBody = TSchema & { properties: Record<string, TSchema> & { name: TSchema } };

/** The body that replaces it at its address, which may omit the name. */
export const putOf = ({ properties }: NamedBody) =>
  closed({ ...properties, name: Type.Optional(properties.name) });
