import type { Member } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { camelName } from "../google-format.ts";
import type { DecidingNames } from "./deciding-names.ts";
import { skipWithin, type Visit, type Within } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";

/** A body that two parsers could read differently. */
export class TwoReadings extends GatewayError {
  constructor(sentence: string) {
    super("invalid_request", sentence);
  }
}

const PLAIN = /^[a-z0-9_]*$/;

/**
 * The name as servers see it that ignore case. By Unicode's simple case folding, the long s and the Kelvin sign are
 * ASCII letters too; by its lower and upper case, so are the I with a dot and the i without.
 */
export const foldedName = (name: string): string =>
  PLAIN.test(name)
    ? name
    : name
        .replace(/[\u0130\u0131]/g, "i")
        .replace(/\u017f/g, "s")
        .toLowerCase();

/** The name as `names` spell it: Google's servers take `tool_config` for `toolConfig`. */
export function spelledName({ names, proto }: DecidingNames, name: string): string {
  if (!proto) return name;
  const camel = camelName(name);
  return names.has(camel) ? camel : name;
}

/** The name that decides and that servers may take this one for. */
function decidingName({ names, proto }: DecidingNames, name: string): string | undefined {
  const folded = foldedName(name);
  if (proto) return proto.get(folded.replaceAll("_", ""));
  return names.has(folded) ? folded : undefined;
}

/**
 * Refuses a name that decides if it is there `again`, and a name that only other parsers take for one that decides.
 * @throws TwoReadings
 */
export function requireOneReading(vocabulary: DecidingNames, name: string, again: boolean): void {
  if (again && vocabulary.names.has(name)) throw new TwoReadings(`\`${name}\` appears twice.`);
  const meant = decidingName(vocabulary, name);
  if (meant === undefined || meant === name) return;
  throw new TwoReadings(`A name differs from \`${meant}\` only in its spelling. Write it as \`${meant}\`.`);
}

/** What reads the objects of a member whose own names decide; null if none do. */
export const lookInto = (bytes: Uint8Array, vocabulary: DecidingNames | undefined): Within | null =>
  vocabulary ? (level) => visitOf(bytes, vocabulary, level) : null;

function visitOf(bytes: Uint8Array, vocabulary: DecidingNames, level: number): Visit {
  const seen = new Map<string, Member>();
  let name = "";
  return {
    level,
    key(start, end) {
      name = spelledName(vocabulary, nameAt(bytes, start, end));
      requireOneReading(vocabulary, name, seen.has(name));
      return lookInto(bytes, vocabulary.within?.get(name));
    },
    member(member) {
      if (vocabulary.names.has(name)) seen.set(name, member);
    },
    end() {
      const { ofType } = vocabulary;
      const type = seen.get("type");
      const member = ofType && seen.get(ofType.member);
      const within = ofType && lookInto(bytes, ofType.vocabulary);
      if (!member || !type || !within || !ofType.applies(valueAt(bytes, type))) return;
      skipWithin(bytes, member.valueStart, { level: level + 1, within });
    },
  };
}
