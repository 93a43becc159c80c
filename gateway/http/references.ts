import { words } from "#shared/words.ts";
import type { JsonBody, Member } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { skipObject, skipWhitespace, skipWithin, type Visit } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { foldedName } from "./one-reading.ts";
import { memberValue } from "./scan.ts";

/** Ids of stored vendor objects that a call refers to. */
export type References = {
  /** Responses and containers. */
  kept: readonly string[];
  /** Items of responses. */
  items: readonly string[];
  files: readonly string[];
};

const NONE: References = { kept: [], items: [], files: [] };

/**
 * A name that may be one of a file's or container's id, as Latin-1: in any case, with the dotted or dotless i or the
 * long s of some servers' folding, or with an ASCII letter or such an i written as an escape. A container that is an
 * object has its id in a name of its own.
 */
const NAMES = [
  // One alternative for each first letter: the search looks at every text of a body.
  "file_?(?:uri|ids?)",
  "c(?:on(?:tainer|versation)(?:_id)?|ached_?content)",
  "vector_store_ids?",
]
  .join("|")
  .replaceAll("i", "(?:i|\\xc4[\\xb0\\xb1])")
  .replaceAll("s", "(?:s|\\xc5\\xbf)");
const MAY_NAME = new RegExp(`"(?:${NAMES})"(?!:\\s?\\{)|\\\\u0[01]`, "i");

/** By its name, which list an id belongs to. */
const LISTS: ReadonlyMap<string, "kept" | "files"> = new Map([
  ...words("file_id file_ids fileuri file_uri").map((name) => [name, "files"] as const),
  ...words(`
    vector_store_id vector_store_ids conversation conversation_id cachedcontent cached_content container
    container_id
  `).map((name) => [name, "kept"] as const),
]);

/** Most ids that a call may refer to: each is looked up while it waits. */
const REFERENCES_MAX = 10_000;

/** Top-level members without which only a name in the text can refer to anything. */
const REFERRING = ["previous_response_id", "container", "conversation", "input"];

/**
 * What a JSON call refers to: `previous_response_id`; containers and files at any depth, in any spelling; items of a
 * response's input.
 * @throws GatewayError invalid_request if there are more than `REFERENCES_MAX`.
 */
export function referencesIn(body: JsonBody): References {
  const named = mayContain(body.bytes, MAY_NAME) ? namedIn(body.bytes) : NONE;
  if (named === NONE && !REFERRING.some((name) => body.members.has(name))) return NONE;
  const container = objectIn(body, "container");
  const objects = [container, objectIn(body, "conversation")].map((object) => textOf(object["id"]));
  const kept = [textOf(memberValue(body, "previous_response_id")), ...objects].filter((id) => id !== null);
  const items = itemsReferredTo(body);
  const all = { kept: [...kept, ...named.kept], items, files: [...named.files, ...skillsIn(container)] };
  if (countOf(all) > REFERENCES_MAX) throw tooMany();
  return all;
}

/** With ids of any kind that an address or a body of a vendor's own names. */
export function withIds(references: References, ids: readonly string[] = []): References {
  if (ids.length > REFERENCES_MAX) throw tooMany();
  return ids.length === 0 ? references : allOf([references, { kept: ids, items: [], files: ids }]);
}

/** As vendors write ids: a word, a separator and a name. */
const ID = /^[A-Za-z]{2,24}[-_/][A-Za-z0-9_-]{1,100}$/;

/** Every text of a body that may be an id, whatever its member's name: which ones count, only its vendor knows. */
export function idsAnywhere({ bytes }: Pick<JsonBody, "bytes">): string[] {
  const found: string[] = [];
  JSON.parse(new TextDecoder().decode(bytes), (_name, value: unknown) => {
    if (typeof value === "string" && ID.test(value)) found.push(value);
    return null;
  });
  return found;
}

const tooMany = () =>
  new GatewayError("invalid_request", `A call may refer to ${REFERENCES_MAX} files and items at most.`);

/** The references of several calls. */
export const allOf = (references: readonly References[]): References => ({
  kept: references.flatMap(({ kept }) => kept),
  items: references.flatMap(({ items }) => items),
  files: references.flatMap(({ files }) => files),
});

const countOf = ({ kept, items, files }: References): number => kept.length + items.length + files.length;

export const isNone = (references: References): boolean => countOf(references) === 0;

type Members = { readonly [name: string]: unknown };

/** Anthropic's container or OpenAI's conversation, where it is an object. */
const objectIn = (body: JsonBody, name: string): Members => membersOf(memberValue(body, name));

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** Ids of Anthropic's skills in a container. */
const skillsIn = ({ skills }: Members): string[] =>
  (Array.isArray(skills) ? skills : []).flatMap((skill) => textOf(membersOf(skill)["skill_id"]) ?? []);

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Values of these names, wherever they are: of several, each, because it is unknown which one counts. */
function namedIn(bytes: Uint8Array): References {
  const found = { kept: [] as string[], items: [], files: [] as string[] };
  const within = (level: number): Visit => {
    let name = "";
    return {
      level,
      key(start, end) {
        name = foldedName(nameAt(bytes, start, end));
        return within;
      },
      member(member) {
        const list = LISTS.get(name);
        if (list)
          for (const id of stringsIn(valueAt(bytes, member))) found[list].push(GOOGLES.exec(id)?.[0] ?? id);
      },
    };
  };
  skipObject(bytes, skipWhitespace(bytes, 0), within(1));
  return found;
}

/** The name of a file of Google's in its address. */
const GOOGLES = /files\/[a-z0-9-]{1,40}$/;

const stringsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");

/** Bytes searched at once; a name that this would cut is found because pieces overlap. */
const PIECE = 65_536;
const OVERLAP = 64;

/** Whether a text, as Latin-1, matches a pattern of at most 64 characters. A search is faster than a parse. */
function mayContain(bytes: Uint8Array, pattern: RegExp): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < text.length; at += PIECE) {
    if (pattern.test(text.toString("latin1", at, at + PIECE + OVERLAP))) return true;
  }
  return false;
}

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
function itemsReferredTo({ bytes, members }: JsonBody): string[] {
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
