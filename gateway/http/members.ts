import { words } from "#shared/words.ts";
import type { JsonBody, Member } from "../call.ts";
import { skipWithin, type Visit } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { TwoReadings } from "./one-reading.ts";

/** Members whose value has names of the user's own: JSON schemas, tools' arguments and results, labels. */
const OWN_NAMES = new Set(
  words(`
  action args arguments input input_schema json_schema metadata output_schema parameters response schema
`),
);
/** Under this name `input` is a call's own, not a tool's. */
const CALLS_OWN = "input";

/**
 * Every top-level member with its value, for whoever reads all of a body. Duplicates at the top level are included,
 * because a provider may read either, and so are those in a tool's arguments, under `arguments`.
 * @throws TwoReadings if a message, a part or a tool has a name twice.
 */
export function* allMembers({ bytes, members }: JsonBody): Generator<readonly [string, unknown]> {
  for (const [name, places] of members) {
    for (const place of places) {
      yield [name, valueAt(bytes, place)];
      const own = name !== CALLS_OWN && OWN_NAMES.has(name);
      for (const repeated of repeatedIn(bytes, place, own)) yield ["arguments", valueAt(bytes, repeated)];
    }
  }
}

/** The members of nested objects that another member of the same name replaces. */
function repeatedIn(bytes: Uint8Array, { valueStart }: Member, own: boolean): Member[] {
  const repeated: Member[] = [];
  const visit = (level: number, isOwn: boolean): Visit => {
    const members = new Map<string, Member>();
    let name = "";
    return {
      level,
      key(start, end) {
        name = nameAt(bytes, start, end);
        if (!isOwn && members.has(name)) throw new TwoReadings("An object names a member twice.");
        const isOwnWithin = isOwn || OWN_NAMES.has(name);
        return (deeper) => visit(deeper, isOwnWithin);
      },
      member(member) {
        const before = members.get(name);
        if (before) repeated.push(before);
        members.set(name, member);
      },
    };
  };
  skipWithin(bytes, valueStart, { level: 2, within: (level) => visit(level, own) });
  return repeated;
}
