import type { JsonBody } from "../call.ts";
import { valueAt } from "./json-value.ts";

/** Every top-level member with its value; duplicates included, because a provider may read either. */
export function* allMembers({ bytes, members }: JsonBody): Generator<readonly [string, unknown]> {
  for (const [name, places] of members) {
    for (const place of places) yield [name, valueAt(bytes, place)];
  }
}
