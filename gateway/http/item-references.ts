import type { JsonBody, Member } from "../call.ts";
import { skipWhitespace, skipWithin, type Visit } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { mayContain } from "./may-contain.ts";
import { foldedName } from "./one-reading.ts";

/**
 * The member that has an item's content, by the item's type. An item that has it is whole: nothing need be read by its
 * id. Other types have results that only the provider keeps, such as images and searches.
 */
const CONTENT: ReadonlyMap<unknown, string> = new Map([
  ["message", "content"],
  ["function_call", "arguments"],
  ["function_call_output", "output"],
  ["custom_tool_call", "input"],
  ["custom_tool_call_output", "output"],
  ["reasoning", "encrypted_content"],
  ["compaction", "encrypted_content"],
  ["computer_call_output", "output"],
  ["local_shell_call", "action"],
  ["local_shell_call_output", "output"],
  ["shell_call", "action"],
  ["shell_call_output", "output"],
  ["apply_patch_call", "operation"],
]);

/** The name of an id, as Latin-1: see references.ts. */
const MAY_NAME_ID = /"(?:i|\xc4[\xb0\xb1])d"|\\u0[01]/i;

const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;
const LETTER_N = 0x6e;

/** Ids of stored items that a response's `input` refers to: those of all its items that are not whole. */
export function itemsReferredTo({ bytes, members }: JsonBody): string[] {
  const input = members.get("input")?.at(-1);
  if (!input || bytes[input.valueStart] !== OPEN_BRACKET) return [];
  if (!mayContain(bytes.subarray(input.valueStart, input.valueEnd), MAY_NAME_ID)) return [];
  const found: string[] = [];
  skipWithin(bytes, input.valueStart, { level: 2, within: (level) => itemVisit(bytes, level, found) });
  return found;
}

/** Several members of one name all count, because it is unknown which one the provider reads. */
function itemVisit(bytes: Uint8Array, level: number, found: string[]): Visit {
  const ids: unknown[] = [];
  const types: unknown[] = [];
  const filled = new Set<string>();
  const empty = new Set<string>();
  let name = "";
  return {
    level,
    key(start, end) {
      name = nameAt(bytes, start, end);
      return null;
    },
    member(member) {
      const folded = foldedName(name);
      if (folded === "id") ids.push(shortValue(bytes, member));
      else if (folded === "type") types.push(shortValue(bytes, member));
      else (isEmpty(bytes, member) ? empty : filled).add(name);
    },
    end() {
      // A message need not say its type.
      const type = types.length === 0 && filled.has("role") ? "message" : types[0];
      const content = CONTENT.get(type);
      const whole = types.length < 2 && content !== undefined && filled.has(content) && !empty.has(content);
      if (!whole) found.push(...ids.filter((id) => typeof id === "string"));
    },
  };
}

const shortValue = (bytes: Uint8Array, member: Member): unknown =>
  bytes[member.valueStart] === QUOTE
    ? nameAt(bytes, member.valueStart, member.valueEnd)
    : valueAt(bytes, member);

/** Whether a value is null, or a text, list or object without anything in it. */
function isEmpty(bytes: Uint8Array, { valueStart, valueEnd }: Member): boolean {
  if (bytes[valueStart] === LETTER_N) return true;
  if (bytes[valueStart] === QUOTE) return valueEnd - valueStart === 2;
  return skipWhitespace(bytes, valueStart + 1) === valueEnd - 1;
}
