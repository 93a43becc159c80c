import type { JsonBody } from "../call.ts";
import { skipObject, skipWhitespace, type Visit } from "./json-grammar.ts";
import { nameAt, valueAt } from "./json-value.ts";
import { foldedName } from "./one-reading.ts";
import { memberValue } from "./scan.ts";

/** Ids of what a vendor keeps that a call refers to. */
export type References = {
  /** Responses and containers. */
  kept: readonly string[];
  files: readonly string[];
};

const NONE: References = { kept: [], files: [] };

/** Bytes searched at once; a name that this would cut is found because pieces overlap. */
const PIECE = 65_536;
const OVERLAP = 32;
/**
 * A name that may be one of a file's id, as Latin-1: in any case, with the dotted or dotless i of some servers' folding,
 * or with an ASCII letter or such an i written as an escape.
 */
const MAY_NAME_FILES = /"f(?:i|\xc4[\xb0\xb1])le_(?:i|\xc4[\xb0\xb1])ds?"|\\u0[01]/i;

/** What a JSON call refers to: `previous_response_id`, `container`, and file ids at any depth, in any spelling. */
export function referencesIn(body: JsonBody): References {
  const kept = [textOf(memberValue(body, "previous_response_id")), containerIn(body)].filter(
    (id) => id !== null,
  );
  const files = mayNameFiles(body.bytes) ? filesIn(body.bytes) : [];
  return kept.length === 0 && files.length === 0 ? NONE : { kept, files };
}

/** What several calls refer to. */
export const allOf = (references: readonly References[]): References => ({
  kept: references.flatMap(({ kept }) => kept),
  files: references.flatMap(({ files }) => files),
});

function containerIn(body: JsonBody): string | null {
  const container = memberValue(body, "container");
  return typeof container === "object" && container !== null && "id" in container
    ? textOf(container.id)
    : textOf(container);
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function mayNameFiles(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < text.length; at += PIECE) {
    if (MAY_NAME_FILES.test(text.toString("latin1", at, at + PIECE + OVERLAP))) return true;
  }
  return false;
}

/** Values of `file_id` and `file_ids`, wherever they are: of several, each, because it is unknown which one counts. */
function filesIn(bytes: Uint8Array): string[] {
  const found: string[] = [];
  const within = (level: number): Visit => {
    let name = "";
    return {
      level,
      key(start, end) {
        name = foldedName(nameAt(bytes, start, end));
        return within;
      },
      member(member) {
        if (name === "file_id" || name === "file_ids") found.push(...stringsIn(valueAt(bytes, member)));
      },
    };
  };
  skipObject(bytes, skipWhitespace(bytes, 0), within(1));
  return found;
}

const stringsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
