import { GatewayError } from "../errors.ts";

const LF = 0x0a;

export type LineSplitter = {
  /** The lines that are complete now, each with its line feed. */
  push(bytes: Uint8Array): Uint8Array[];
  /** What stands behind the last line feed; empty where nothing does. */
  end(): Uint8Array;
};

/** Cuts bytes into lines, whatever the pieces they come in. @throws GatewayError too_large for a line over `bytesMax`. */
export function lineSplitter(bytesMax: number): LineSplitter {
  let held: Uint8Array[] = [];
  let size = 0;
  return {
    push(bytes) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, from)) {
        const rest = bytes.subarray(from, at + 1);
        lines.push(held.length === 0 ? rest : Buffer.concat([...held, rest]));
        held = [];
        size = 0;
        from = at + 1;
      }
      if (from < bytes.length) held.push(bytes.slice(from));
      size += bytes.length - from;
      if (size > bytesMax) throw new GatewayError("too_large", "A line of the file is too long.");
      return lines;
    },
    end() {
      const last = Buffer.concat(held);
      held = [];
      return last;
    },
  };
}

/** Whether there is anything on a line but blanks. */
export const isBlankLine = (line: Uint8Array): boolean =>
  line.every((byte) => byte === LF || byte === 0x0d || byte === 0x20 || byte === 0x09);
