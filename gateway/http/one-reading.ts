import type { Member } from "../call.ts";
import { GatewayError } from "../errors.ts";
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
const foldedName = (name: string): string =>
  PLAIN.test(name)
    ? name
    : name
        .replace(/[\u0130\u0131]/g, "i")
        .replace(/\u017f/g, "s")
        .toLowerCase();

/**
 * Refuses a name that decides if it is there `again`, and a name that only other parsers take for one that decides.
 * @throws TwoReadings
 */
export function requireOneReading({ names }: DecidingNames, name: string, again: boolean): void {
  if (again && names.has(name)) throw new TwoReadings(`\`${name}\` appears twice.`);
  const folded = foldedName(name);
  if (folded === name || !names.has(folded)) return;
  throw new TwoReadings(`A name differs from \`${folded}\` only in its spelling. Write it as \`${folded}\`.`);
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
      name = nameAt(bytes, start, end);
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
