import { GatewayError, refuse } from "../errors.ts";
import { skipString } from "./json-grammar.ts";

/** Maximum nesting; an OTLP export's attributes are at level 13. */
const DEPTH_MAX = 64;
/** Objects, arrays and separators. A real export of 8 MiB has fewer. */
const VALUES_MAX = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
/** An opening bracket or brace, with its 0x20 bit set; the closing one is two more. */
const OPENS = 0x7b;
const CLOSES = 0x7d;

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
 * @throws GatewayError invalid_request if it is nested too deeply or has an invalid string; too_large if it has too many
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
      if (depth > DEPTH_MAX) refuse(`The body is nested deeper than ${DEPTH_MAX} levels.`);
    }
    if (values > valuesMax) throw new GatewayError("too_large", "The body contains too many values.");
  }
}
