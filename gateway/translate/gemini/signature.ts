import type { Block } from "../reply.ts";
import { openSealed, type Seal } from "../sealed.ts";

/** In place of a signature that no one knows (ai.google.dev, "Thought signatures"). */
export const UNKNOWN_SIGNATURE = "skip_thought_signature_validator";

/**
 * Another vendor's reasoning as Gemini's clients carry it: in the `thoughtSignature` of the text or call that followed it, which
 * they send back unread. Base64, because Google's clients decode it. Null if there is none to carry.
 */
export function signatureOf(blocks: readonly Block[], seal: Seal): string | null {
  const sealed = blocks.flatMap((block) => seal(block) ?? []);
  return sealed.length === 0 ? null : Buffer.from(sealed.join(" ")).toString("base64");
}

/** Unpacks the result of `signatureOf`; nothing for one of Google's own signatures. */
export const openSignature = (signature: string): ReturnType<typeof openSealed> =>
  Buffer.from(signature, "base64").toString("latin1").split(" ").flatMap(openSealed);
