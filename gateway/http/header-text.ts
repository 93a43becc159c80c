import { isUtf8 } from "node:buffer";

const ASCII = /^[ -~]*$/;

/**
 * Decodes a header's value. Bun delivers header bytes as Latin-1; most tools send UTF-8, so bytes that are valid UTF-8
 * are decoded as such. Others stay Latin-1, the default of HTTP libraries that encode header text.
 */
export function utf8Header(value: string | null): string | null {
  if (value === null || ASCII.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  const fromTheWire = bytes.toString("latin1") === value;
  return fromTheWire && isUtf8(bytes) ? bytes.toString("utf8") : value;
}
