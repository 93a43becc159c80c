import { objectIn, textIn } from "../exact-json.ts";
import type { Block } from "../reply.ts";

/** Marks what this gateway packed, among what others put into `encrypted_content`. */
const SEAL = "tallygate.1.";

/**
 * A reasoning block of the messages format, or what a chat provider wants back with a call, as the responses format lets
 * a client carry it: opaque, in `encrypted_content`. It is packed, not encrypted: its own vendor's signature is what
 * protects it. Null for a block without a signature, which its vendor would not take back.
 */
export function seal(block: Block): string | null {
  const packed =
    block.kind === "redacted"
      ? { data: block.data }
      : block.kind === "extra"
        ? { extra: block.data }
        : block.kind === "thinking" && block.signature !== null
          ? { text: block.text, signature: block.signature }
          : null;
  return packed && SEAL + Buffer.from(JSON.stringify(packed)).toString("base64url");
}

type Unsealed =
  | { kind: "thinking"; text: string; signature: string }
  | { kind: "redacted" | "extra"; data: string };

export const isSealed = (value: unknown): boolean => typeof value === "string" && value.startsWith(SEAL);

/** Unpacks the result of `seal`; nothing for text that another program packed. */
export function openSealed(text: string): Unsealed[] {
  if (!isSealed(text)) return [];
  const packed = objectIn(Buffer.from(text.slice(SEAL.length), "base64url").toString());
  const data = textIn(packed, "data");
  if (data !== null) return [{ kind: "redacted", data }];
  const extra = textIn(packed, "extra");
  if (extra !== null) return [{ kind: "extra", data: extra }];
  const signature = textIn(packed, "signature");
  return signature === null ? [] : [{ kind: "thinking", text: textIn(packed, "text") ?? "", signature }];
}
