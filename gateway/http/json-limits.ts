import { GatewayError, refuse } from "../errors.ts";
import { skipString } from "./json-grammar.ts";

/** Maximum nesting; an OTLP export's attributes are at level 13. */
const DEPTH_MAX = 64;
/** Objects, arrays and separators. A real export of 8 MiB has fewer. */
const VALUES_MAX = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
/** By byte: 1 for an opening bracket or brace, -1 for a closing one. */
const NESTS = new Int8Array(256);
for (const [sign, step] of Object.entries({ "[": 1, "{": 1, "]": -1, "}": -1 }))
  NESTS[sign.charCodeAt(0)] = step;

/** The JSON in UTF-8. @throws GatewayError invalid_request; the parser's own message would quote the text. */
export function jsonInBytes(bytes: Uint8Array, message = "The body is not JSON."): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    refuse(message);
  }
}

/**
 * Refuses a body that would be expensive to parse, from its bytes alone. Apart from strings, JSON syntax is left to the
 * parser.
 * @returns how many members are written in it
 * @throws GatewayError invalid_request if it is nested too deeply or has an invalid string; too_large if it has too many
 * values.
 */
export function requireJsonLimits(bytes: Uint8Array, valuesMax = VALUES_MAX): number {
  let depth = 0;
  let values = 0;
  let members = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at = byte === QUOTE ? skipString(bytes, at) : at + 1;
    depth += NESTS[byte] ?? 0;
    if (byte === COMMA || NESTS[byte] === 1) values++;
    if (byte === COLON) members++;
    if (depth > DEPTH_MAX) refuse(`The body is nested deeper than ${DEPTH_MAX} levels.`);
    if (values > valuesMax) throw new GatewayError("too_large", "The body contains too many values.");
  }
  return members;
}
