import {
  FormatRegistry,
  Kind,
  type SchemaOptions,
  type Static,
  type StringOptions,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { isWithinLength } from "./text-length.ts";

/** An object that keeps members it does not know: for bodies that belong to a client. */
export const open = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: true });

/** An object that refuses members it does not know: for our own payloads and settings. */
export const closed = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: false });

const TEST = Symbol("test");
const EXPECTED = Symbol("expected");

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
// The gateway's HTTP framework knows this format; the command line has none but this.
FormatRegistry.Set("date", isCalendarDate);

/** `Date.parse` takes the 30th of February for the 2nd of March. */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (!year || Number(year) < 1970) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

TypeRegistry.Set<TSchema & { [TEST]: (value: unknown) => boolean }>("Checked", (schema, value) =>
  schema[TEST](value),
);

/**
 * A value that `test` accepts, for rules that JSON Schema cannot express or TypeBox does not check. `form` is its JSON
 * Schema as far as there is one; a fault reads "Expected" and `expected`.
 */
export const checked = <T>(form: SchemaOptions, expected: string, test: (value: unknown) => boolean) =>
  Type.Unsafe<T>({ ...form, [Kind]: "Checked", [TEST]: test, [EXPECTED]: expected });

/** Text of a pattern; a fault reads "Expected" and `expected`, because no one should have to read a regular expression. */
export function matching(pattern: string, expected: string, options: StringOptions = {}) {
  const words = { [EXPECTED]: expected };
  return Type.String({ pattern, ...options, ...words });
}

type TextBounds = { minLength?: number; maxLength: number; pattern?: string; description?: string };

/**
 * Text with its length bounded in characters: `Type.String` counts UTF-16 code units, other readers of its JSON Schema
 * do not. `not` says in words what the pattern excludes.
 */
export function boundedText(bounds: TextBounds, not = "") {
  const { minLength = 0, maxLength, pattern } = bounds;
  const fitting = new RegExp(pattern ?? "");
  const length = minLength > 0 ? `${minLength} to ${maxLength}` : `at most ${maxLength}`;
  return checked<string>(
    { type: "string", ...bounds },
    `text of ${length} characters${not && `, none of them ${not}`}`,
    (value) =>
      typeof value === "string" &&
      value.length >= minLength &&
      isWithinLength(value, maxLength) &&
      value.isWellFormed() &&
      fitting.test(value),
  );
}

/** One string of a tuple, e.g. `oneOf(["table", "bar"])`; the tuple stays the only list of the names. */
export const oneOf = <const T extends readonly string[]>(names: T, description?: string) =>
  checked<T[number]>(
    { type: "string", enum: [...names], ...(description && { description }) },
    `one of ${names.join(", ")}`,
    (value) => names.some((name) => name === value),
  );

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Members of answers, each with its meaning. */
export const Text = (description: string) => Type.String({ description });
export const TextOrNull = (description: string) => nullable(Text(description));
export const Integer = (description: string) => Type.Integer({ description });
export const IntegerOrNull = (description: string) => nullable(Integer(description));
export const Numeral = (description: string) => Type.Number({ description });
export const NumeralOrNull = (description: string) => nullable(Numeral(description));
export const Flag = (description: string) => Type.Boolean({ description });
export const FlagOrNull = (description: string) => nullable(Flag(description));
/** In a body; null removes it. */
export const Removable = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));
/** In settings and bodies; its value until it is set. */
export const OnOff = (fallback: boolean, description: string) =>
  Type.Boolean({ default: fallback, description });
/** In a body; if absent, it has this value. */
export const Switch = (fallback: boolean, description: string) => Type.Optional(OnOff(fallback, description));

/** A fault of a value against its schema; `path` is a JSON pointer such as `/scopes/routes/0`. */
export type Fault = { path: string; message: string };

/** At most 20 faults, never quoting the value, which may be a secret. An empty list means a `Static<T>`. */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  // Listing faults takes several times as long as checking that there are none.
  if (fits(schema, value)) return [];
  const faults: Fault[] = [];
  for (const error of leavesOf(Value.Errors(schema, value))) {
    if (faults.length === 20) break;
    const seen = faults.some((fault) => fault.path === error.path);
    if (!seen) faults.push({ path: error.path, message: messageOf(error) });
  }
  return faults;
}

/** A union's fault names no variant. The one that senders meant is the first whose faults lie inside the value. */
function* leavesOf(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const forms = error.errors.map((form) => [...leavesOf(form)]);
    const leaves = forms.find((form) => form.every(({ path }) => path !== error.path)) ?? forms[0];
    if (leaves) yield* leaves;
    else yield error;
  }
}

function messageOf({ schema, value, message, type }: ValueError): string {
  if (EXPECTED in schema && value !== undefined) return `Expected ${schema[EXPECTED]}`;
  return type === ValueErrorType.StringPattern ? "Expected text of another form" : message;
}

export const fits = <T extends TSchema>(schema: T, value: unknown): value is Static<T> =>
  Value.Check(schema, value);
