/** Objects, arrays and separators; GitHub's largest events have a tenth of it. */
const VALUES_MAX = 1_000_000;
const DEPTH_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** An opening bracket or brace, with its 0x20 bit set; the closing one is two more. */
const OPENS = 0x7b;
const CLOSES = 0x7d;

/** Whether JSON has few enough values, and levels of them, to be parsed: counted from its bytes alone. */
export function isBoundedJson(bytes: Uint8Array): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) values++;
    else if ((byte | 0x20) === CLOSES) depth--;
    else if ((byte | 0x20) === OPENS) {
      values++;
      depth++;
    }
    if (values > VALUES_MAX || depth > DEPTH_MAX) return false;
  }
  return true;
}

/** Where the string that begins at `start` ends; the end of the bytes if it does not. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}
