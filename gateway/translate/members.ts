import { type BodyPlace, inexpressible, type LocatedBody, lose } from "./place.ts";
import { objectAt } from "./values.ts";

/** Reads one member's value; `at` is its place in the client's body. */
export type MemberReader = (value: unknown, at: BodyPlace) => void;
export type MemberReaders = Readonly<Record<string, MemberReader>>;

/**
 * Passes every member of an object to its reader. Null counts as absent. A member without a reader has no place in the
 * other format: `otherwise` decides, which by default loses it, so that nothing a client asks for is lost silently.
 * @throws GatewayError invalid_request
 */
export function readMembers(
  { object, at }: LocatedBody,
  readers: MemberReaders,
  otherwise: MemberReader = lost,
): void {
  for (const name in object) {
    const value = object[name];
    if (value === null || value === undefined) continue;
    const place = at.member(name);
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read) read(value, place);
    // An empty list, and a mark that the client left for itself, as Copilot CLI does in messages.
    else if ((Array.isArray(value) && value.length === 0) || name.startsWith("__")) place.drop();
    else otherwise(value, place);
  }
}

/** `readMembers` of an object at its place. @throws GatewayError invalid_request for any other value. */
export const readObject = (value: unknown, at: BodyPlace, readers: MemberReaders): void =>
  readMembers({ object: objectAt(value, at), at }, readers);

/** The others are wishes: an answer without them is as good. */
const CHANGES_ANSWER = /_penalty$/;

/** Members that not all formats have, by the names of the format that is written. What it lacks is left out, or lost. */
export function extrasAs(
  extras: ReadonlyMap<string, { value: unknown; at: BodyPlace }>,
  nameOf: (name: string) => string | undefined,
): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [name, { value, at }] of extras) {
    const own = nameOf(name);
    if (own !== undefined) written[own] = value;
    else if (CHANGES_ANSWER.test(name)) lose(at);
    else at.drop();
  }
  return written;
}

// What the tables do with a member that they do not read.

/** Read elsewhere, or part of the format's own structure. */
export const ignored: MemberReader = () => {};

/** Means nothing to the other side: left out and counted. */
export const dropped: MemberReader = (_value, at) => at.drop();

/** Changes the answer's meaning and has no counterpart: refused, or left out where the route allows that. */
export const lost: MemberReader = (_value, at) => lose(at);

/** Part of what was said: refused on every route. */
export const refused: MemberReader = (_value, at) => {
  throw inexpressible(at);
};

/** `dropped` with values that mean the other format's default, `lost` with any other. */
export const neutral =
  (...values: readonly unknown[]): MemberReader =>
  (value, at) => {
    const text = JSON.stringify(value);
    if (values.some((allowed) => JSON.stringify(allowed) === text)) at.drop();
    else lose(at);
  };

/** Reads a member into a property of `target`. */
export const into =
  <T extends object, K extends keyof T>(
    target: T,
    property: K,
    read: (value: unknown, at: BodyPlace) => T[K],
  ): MemberReader =>
  (value, at) => {
    target[property] = read(value, at);
  };
