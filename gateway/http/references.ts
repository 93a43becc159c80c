import type { JsonBody } from "../call.ts";
import { memberValue } from "./scan.ts";

/** Ids of what a vendor keeps that a call refers to. */
export type References = {
  /** Responses and containers. */
  kept: readonly string[];
  files: readonly string[];
};

const NONE: References = { kept: [], files: [] };

const FILE_ID = Buffer.from('"file_id"');
const FILE_IDS = Buffer.from('"file_ids"');
/** Of a letter that is written as an escape, so that the names above cannot be found as bytes. */
const ESCAPED_ASCII = Buffer.from("\\u00");

/** What a JSON call refers to: `previous_response_id`, `container`, and file ids at any depth. */
export function referencesIn(body: JsonBody): References {
  const kept = [textOf(memberValue(body, "previous_response_id")), containerIn(body)].filter(
    (id) => id !== null,
  );
  const files = mayNameFiles(body.bytes) ? filesIn(JSON.parse(Buffer.from(body.bytes).toString("utf8"))) : [];
  return kept.length === 0 && files.length === 0 ? NONE : { kept, files };
}

function containerIn(body: JsonBody): string | null {
  const container = memberValue(body, "container");
  return typeof container === "object" && container !== null && "id" in container
    ? textOf(container.id)
    : textOf(container);
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function mayNameFiles(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes(FILE_ID) || text.includes(FILE_IDS) || text.includes(ESCAPED_ASCII);
}

/** Values of `file_id` and `file_ids`, wherever they are. */
function filesIn(value: unknown): string[] {
  const found: string[] = [];
  const pending: unknown[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== "object" || next === null) continue;
    for (const [name, member] of Object.entries(next)) {
      if (name === "file_id" && typeof member === "string") found.push(member);
      else if (name === "file_ids" && Array.isArray(member)) {
        found.push(...member.filter((id) => typeof id === "string"));
      } else pending.push(member);
    }
  }
  return found;
}
