import { isJson, type Json } from "./exact-json.ts";
import { type BodyPlace, inexpressible, type LocatedBody, malformed } from "./place.ts";

// Values of a client's body, as its own format has them; each reader throws GatewayError invalid_request for any other.

/** Reads a value together with its place, so that a later refusal can name it. */
export const located =
  <T>(read: (value: unknown, at: BodyPlace) => T) =>
  (value: unknown, at: BodyPlace): { value: T; at: BodyPlace } => ({ value: read(value, at), at });

export function textAt(value: unknown, at: BodyPlace): string {
  if (typeof value !== "string") throw malformed(at, "a string");
  return value;
}

export function numberAt(value: unknown, at: BodyPlace): number {
  if (typeof value !== "number") throw malformed(at, "a number");
  return value;
}

export function flagAt(value: unknown, at: BodyPlace): boolean {
  if (typeof value !== "boolean") throw malformed(at, "true or false");
  return value;
}

export function objectAt(value: unknown, at: BodyPlace): Json {
  if (!isJson(value)) throw malformed(at, "an object");
  return value;
}

export function listAt(value: unknown, at: BodyPlace): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(at, "an array");
  return value;
}

export const objectsAt = (value: unknown, at: BodyPlace): LocatedBody[] =>
  listAt(value, at).map((one, index) => {
    const place = at.item(index);
    return { object: objectAt(one, place), at: place };
  });

export const oneOfAt = <T extends string>(value: unknown, at: BodyPlace, names: readonly T[]): T => {
  const found = names.find((name) => name === value);
  if (found === undefined) throw inexpressible(at);
  return found;
};
