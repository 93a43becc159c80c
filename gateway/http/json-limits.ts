import { GatewayError } from "../errors.ts";
import { skipString } from "./json-grammar.ts";

/** Deepest nesting; an export's attributes stand at level 13. */
const DEPTH_MAX = 64;
/** Objects, arrays and separators. A real export of 8 MiB has fewer. */
const VALUES_MAX = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
/** An opening bracket or brace, with its 0x20 bit set; the closing one is two more. */
const OPENS = 0x7b;
const CLOSES = 0x7d;

/**
 * Refuses a body that would take long or much memory to parse, from its bytes alone. It does not check that they are
 * JSON otherwise than in their strings: the parser does.
 * @throws GatewayError invalid_request when it is nested too deep or a string is none; too_large when it has too many
 * values.
 */
export function requireJsonLimits(bytes: Uint8Array, valuesMax = VALUES_MAX): void {
  let depth = 0;
  let values = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at = byte === QUOTE ? skipString(bytes, at) : at + 1;
    if (byte === COMMA) values++;
    else if ((byte | 0x20) === CLOSES) depth--;
    else if ((byte | 0x20) === OPENS) {
      values++;
      depth++;
      if (depth > DEPTH_MAX) {
        throw new GatewayError("invalid_request", `The body is nested deeper than ${DEPTH_MAX} levels.`);
      }
    }
    if (values > valuesMax) throw new GatewayError("too_large", "The body contains too many values.");
  }
}
