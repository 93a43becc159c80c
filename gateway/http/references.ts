import type { JsonBody } from "../call.ts";
import { GatewayError } from "../errors.ts";
import { itemsReferredTo } from "./item-references.ts";
import { skipObject, skipWhitespace, type Visit } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { mayContain } from "./may-contain.ts";
import { foldedName } from "./one-reading.ts";
import { memberValue } from "./scan.ts";

/** Ids of what a vendor keeps that a call refers to. */
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
const MAY_NAME =
  /"(?:f(?:i|\xc4[\xb0\xb1])le_(?:i|\xc4[\xb0\xb1])d(?:s|\xc5\xbf)?|conta(?:i|\xc4[\xb0\xb1])ner(?:_(?:i|\xc4[\xb0\xb1])d)?)"(?!:\s?\{)|\\u0[01]/i;

/** By its name, which list an id belongs to. */
const LISTS: ReadonlyMap<string, "kept" | "files"> = new Map([
  ["file_id", "files"],
  ["file_ids", "files"],
  ["container", "kept"],
  ["container_id", "kept"],
]);

/** Most ids that a call may refer to: each is looked up while it waits. */
const REFERENCES_MAX = 10_000;

/**
 * What a JSON call refers to: `previous_response_id`; containers and files at any depth, in any spelling; items of a
 * response's input.
 * @throws GatewayError invalid_request if there are more than `REFERENCES_MAX`.
 */
export function referencesIn(body: JsonBody): References {
  const named = mayContain(body.bytes, MAY_NAME) ? namedIn(body.bytes) : NONE;
  const kept = [textOf(memberValue(body, "previous_response_id")), containerIn(body)].filter(
    (id) => id !== null,
  );
  const items = itemsReferredTo(body);
  const all = { kept: [...kept, ...named.kept], items, files: named.files };
  if (countOf(all) > REFERENCES_MAX) {
    throw new GatewayError(
      "invalid_request",
      `A call may refer to ${REFERENCES_MAX} files and items at most.`,
    );
  }
  return all;
}

/** What several calls refer to. */
export const allOf = (references: readonly References[]): References => ({
  kept: references.flatMap(({ kept }) => kept),
  items: references.flatMap(({ items }) => items),
  files: references.flatMap(({ files }) => files),
});

const countOf = ({ kept, items, files }: References): number => kept.length + items.length + files.length;

export const isNone = (references: References): boolean => countOf(references) === 0;

/** The id of Anthropic's container, where it is an object. */
function containerIn(body: JsonBody): string | null {
  const container = memberValue(body, "container");
  return typeof container === "object" && container !== null && "id" in container
    ? textOf(container.id)
    : null;
}

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
        if (list) for (const id of stringsIn(valueAt(bytes, member))) found[list].push(id);
      },
    };
  };
  skipObject(bytes, skipWhitespace(bytes, 0), within(1));
  return found;
}

const stringsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
