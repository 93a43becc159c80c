import { checked } from "../schema.ts";

/** Bytes of the document as JSON without white space. */
const BYTES_MAX = 64 * 1024;
/** JSON escapes that Postgres cannot store: NUL, and a lone surrogate. */
const NOT_STORABLE = /\\u(?:0000|d[89a-f])/;

type JsonValue = string | number | boolean | null | JsonValue[] | JsonDocument;
export type JsonDocument = { [member: string]: JsonValue };

/** Settings that Claude Code gets when it signs in: the content of a managed-settings.json, opaque to the gateway. */
export const ClaudeSettings = checked<JsonDocument>(
  { type: "object", additionalProperties: true },
  "a JSON object of at most 64 KiB, without NUL characters",
  (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const text = JSON.stringify(value);
    return new TextEncoder().encode(text).length <= BYTES_MAX && !NOT_STORABLE.test(text);
  },
);
