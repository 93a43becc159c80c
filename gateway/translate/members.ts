import { GatewayError } from "../errors.ts";
import { isJson, type Json } from "./exact-json.ts";

/** Reads one member's value; `at` is its place in the client's body, such as `messages[2].content`. */
export type MemberReader = (value: unknown, at: string) => void;
export type MemberReaders = Readonly<Record<string, MemberReader>>;

/** A member's name as an error may quote it: no format has longer or other ones. */
const NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** The error for something that the provider's format cannot express. */
export const inexpressible = (at: string, why?: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `\`${at}\` cannot be expressed in the provider's format${why ? `: ${why}` : ""}.`,
  );

/** The error for a value that is invalid in the client's own format. */
export const malformed = (at: string, expected: string): GatewayError =>
  new GatewayError("invalid_request", `\`${at}\` must be ${expected}.`);

/**
 * Passes every member of an object to its reader. Null counts as absent. A member without a reader has no place in the
 * other format and is refused by name, so that nothing a client asks for is lost silently.
 * @throws GatewayError invalid_request
 */
export function readMembers(object: Json, at: string, readers: MemberReaders): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    const place = NAME.test(name) ? placeOf(at, name) : `${at || "the body"} (a field with an unusual name)`;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (!read) throw inexpressible(place);
    read(value, place);
  }
}

const placeOf = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** A member that may be dropped without changing what the client requested. */
export const ignored: MemberReader = () => {};

/** A member that is accepted only with values that mean the other format's default. */
export const only =
  (...values: readonly unknown[]): MemberReader =>
  (value, at) => {
    const text = JSON.stringify(value);
    if (!values.some((allowed) => JSON.stringify(allowed) === text)) throw inexpressible(at);
  };

/** Reads a member into a property of `target`. */
export const into =
  <T extends object, K extends keyof T>(
    target: T,
    property: K,
    read: (value: unknown, at: string) => T[K],
  ): MemberReader =>
  (value, at) => {
    target[property] = read(value, at);
  };

/** Reads a value together with its place, so that a later refusal can name it. */
export const located =
  <T>(read: (value: unknown, at: string) => T) =>
  (value: unknown, at: string): { value: T; at: string } => ({ value: read(value, at), at });

export function textAt(value: unknown, at: string): string {
  if (typeof value !== "string") throw malformed(at, "a string");
  return value;
}

export function numberAt(value: unknown, at: string): number {
  if (typeof value !== "number") throw malformed(at, "a number");
  return value;
}

export function flagAt(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw malformed(at, "true or false");
  return value;
}

export function objectAt(value: unknown, at: string): Json {
  if (!isJson(value)) throw malformed(at, "an object");
  return value;
}

export function listAt(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(at, "an array");
  return value;
}

/** The objects of a list, each with its place. */
export const objectsAt = (value: unknown, at: string): { object: Json; at: string }[] =>
  listAt(value, at).map((one, index) => {
    const place = `${at}[${index}]`;
    return { object: objectAt(one, place), at: place };
  });

export const oneOfAt = <T extends string>(value: unknown, at: string, names: readonly T[]): T => {
  const found = names.find((name) => name === value);
  if (found === undefined) throw inexpressible(at);
  return found;
};
