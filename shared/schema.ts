import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** An object that keeps members it does not know: for bodies that belong to a client. */
export const open = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: true });

/** An object that refuses members it does not know: for our own payloads and settings. */
export const closed = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: false });

/** One string of a tuple, e.g. `oneOf(["table", "bar"])`; the tuple stays the only list of the names. */
export const oneOf = <const T extends readonly string[]>(names: T) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...names] }));

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A fault of a value against its schema; `path` is a JSON pointer such as `/scopes/routes/0`. */
export type Fault = { path: string; message: string };

/**
 * Every fault of `value`, at most 20, never quoting the value itself (it may hold a secret).
 * An empty list means that `value` is a `Static<T>`.
 */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  const faults: Fault[] = [];
  for (const error of Value.Errors(schema, value)) {
    if (faults.length === 20) break;
    const seen = faults.some((fault) => fault.path === error.path);
    if (!seen) faults.push({ path: error.path, message: error.message });
  }
  return faults;
}

/** Narrowing check by schema. */
export const fits = <T extends TSchema>(schema: T, value: unknown): value is Static<T> =>
  Value.Check(schema, value);
