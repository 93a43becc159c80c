import { isUtf8 } from "node:buffer";

const ASCII = /^[ -~]*$/;

/**
 * A header's value as its sender wrote it. Header bytes are handed over as Latin-1, one character a byte; most tools
 * send UTF-8, so bytes that are valid UTF-8 are read as that. Others stay Latin-1: the default of HTTP libraries that
 * encode text by themselves.
 */
export function utf8Header(value: string | null): string | null {
  if (value === null || ASCII.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  const fromTheWire = bytes.toString("latin1") === value;
  return fromTheWire && isUtf8(bytes) ? bytes.toString("utf8") : value;
}
