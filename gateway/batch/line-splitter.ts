import { GatewayError } from "../errors.ts";

const LF = 0x0a;

/** Splits a byte stream into lines. @throws GatewayError too_large for a line over `bytesMax`. */
export function lineSplitter(bytesMax: number) {
  let pending: Uint8Array[] = [];
  let size = 0;
  return {
    /** The lines completed by `bytes`, each with its line feed. */
    push(bytes: Uint8Array): Uint8Array[] {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, from)) {
        const rest = bytes.subarray(from, at + 1);
        lines.push(pending.length === 0 ? rest : Buffer.concat([...pending, rest]));
        pending = [];
        size = 0;
        from = at + 1;
      }
      if (from < bytes.length) pending.push(bytes.slice(from));
      size += bytes.length - from;
      if (size > bytesMax) throw new GatewayError("too_large", "A line of the file is too long.");
      return lines;
    },
    /** The rest after the last line feed; may be empty. */
    end(): Uint8Array {
      const last = Buffer.concat(pending);
      pending = [];
      return last;
    },
  };
}

/** True if a line contains only whitespace. */
export const isBlankLine = (line: Uint8Array): boolean =>
  line.every((byte) => byte === LF || byte === 0x0d || byte === 0x20 || byte === 0x09);
