import { GatewayError } from "../errors.ts";
import { isJson, type Json } from "./exact-json.ts";

/** Takes one member's value; `at` is its place in the client's body, such as `messages[2].content`. */
export type Take = (value: unknown, at: string) => void;
export type Takes = Readonly<Record<string, Take>>;

/** A member's name as an error may quote it: anything longer or odder is no name that a format has. */
const NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** The refusal of something that the provider's format has no place for. */
export const inexpressible = (at: string, why?: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `\`${at}\` cannot be expressed in the format of the route's provider${why ? `: ${why}` : ""}.`,
  );

/** The refusal of a member whose value is not of the form that the client's own format gives it. */
export const malformed = (at: string, expected: string): GatewayError =>
  new GatewayError("invalid_request", `\`${at}\` must be ${expected}.`);

/**
 * Hands every member of an object to its taker. Null is absent; a member without a taker has no place in the other
 * format and is refused by name, so that nothing a client asks for is lost silently.
 * @throws GatewayError invalid_request
 */
export function readMembers(object: Json, at: string, takes: Takes): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    const place = NAME.test(name) ? placeOf(at, name) : `${at || "the body"} (a member of an odd name)`;
    const take = Object.hasOwn(takes, name) ? takes[name] : undefined;
    if (!take) throw inexpressible(place);
    take(value, place);
  }
}

const placeOf = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** A member that means nothing to the other format: its absence changes nothing that the client asked for. */
export const ignored: Take = () => {};

/** A member that may only say what holds in the other format anyway. */
export const only =
  (...values: readonly unknown[]): Take =>
  (value, at) => {
    const said = JSON.stringify(value);
    if (!values.some((allowed) => JSON.stringify(allowed) === said)) throw inexpressible(at);
  };

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
