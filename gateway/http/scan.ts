import { isUtf8 } from "node:buffer";
import type { JsonBody, Member } from "../call.ts";
import { GatewayError } from "../errors.ts";
import type { DecidingNames } from "./deciding-names.ts";
import { OPEN_BRACE, skipObject, skipString, skipWhitespace } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { lookInto, requireOneReading, spelledName } from "./one-reading.ts";

/** Maximum number of top-level members. Their offsets are kept, so this bounds a call's memory. */
export const MEMBERS_MAX = 10_000;

const invalid = (sentence: string) => new GatewayError("invalid_request", sentence);

/**
 * Validates the body as one JSON object (RFC 8259) in one pass and locates its top-level members. Nothing is parsed, so
 * unused members cost no memory. A member that decides by `vocabulary` must be there once and as it is spelled. Accepts any object that `JSON.parse` accepts, if it is UTF-8 without byte order mark,
 * nested at most `DEPTH_MAX` deep, with at most `MEMBERS_MAX` members.
 * @throws GatewayError invalid_request, which never quotes the body.
 */
export function scanJson(bytes: Uint8Array, vocabulary: DecidingNames = NOTHING_DECIDES): JsonBody {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid("The body begins with a byte order mark. Send UTF-8 without it.");
  }
  if (!isUtf8(bytes)) throw invalid("The body is not valid UTF-8.");
  const start = skipWhitespace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) throw invalid("The body must be one JSON object.");
  const { members, end } = membersOf(bytes, start, vocabulary);
  if (skipWhitespace(bytes, end) !== bytes.length) throw invalid("The body continues after its JSON object.");
  return { bytes, members };
}

const NOTHING_DECIDES: DecidingNames = { names: new Set() };

type Members = { members: Map<string, Member[]>; end: number };

/** The top-level members by unescaped name: `"mod\u0065l"` is `model`. */
function membersOf(bytes: Uint8Array, start: number, vocabulary: DecidingNames): Members {
  const members = new Map<string, Member[]>();
  let count = 0;
  let name = "";
  const end = skipObject(bytes, start, {
    level: 1,
    key(from, to) {
      count++;
      if (count > MEMBERS_MAX) throw invalid(`The body has more than ${MEMBERS_MAX} members.`);
      name = spelledName(vocabulary, nameAt(bytes, from, to));
      requireOneReading(vocabulary, name, members.has(name));
      return lookInto(bytes, vocabulary.within?.get(name));
    },
    member(member) {
      const same = members.get(name);
      if (same) same.push(member);
      else members.set(name, [member]);
    },
  });
  return { members, end };
}

/** The last member called `name` of the object whose brace is at `start`. The body must have been scanned. */
export function lastMember(
  bytes: Uint8Array,
  start: number,
  name: string,
): { last: Member | null; empty: boolean } {
  let last: Member | null = null;
  let empty = true;
  skipObject(bytes, start, {
    level: 1,
    member(member) {
      empty = false;
      if (nameAt(bytes, member.keyStart, skipString(bytes, member.keyStart)) === name) last = member;
    },
  });
  return { last, empty };
}

/** A top-level string; null if absent, null or empty. @throws GatewayError invalid_request for other types. */
export function stringMember(body: JsonBody, member: string): string | null {
  const value = memberValue(body, member);
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return value;
  throw invalid(`\`${member}\` must be a string.`);
}

/**
 * Whether a top-level member is `true`; false if absent or null.
 * @throws GatewayError invalid_request for other values: some providers treat 1 and "true" as true.
 */
export function booleanMember(body: JsonBody, member: string): boolean {
  const value = memberValue(body, member) ?? false;
  if (typeof value === "boolean") return value;
  throw invalid(`\`${member}\` must be true or false.`);
}

/** The value of a top-level member, the last one of duplicates; `undefined` if there is none. */
export function memberValue(body: JsonBody, name: string): unknown {
  const last = body.members.get(name)?.at(-1);
  return last && valueAt(body.bytes, last);
}
