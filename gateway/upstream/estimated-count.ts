import { textsOf } from "../guardrail/text.ts";
import { allMembers } from "../http/members.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { supportsSurface } from "../providers/endpoint.ts";
import { SURFACES, type SurfaceName, surfaceFacts, type WireName } from "../surface-facts.ts";
import type { Send } from "./send.ts";

/** A token of English text has about 4 bytes, of code and other scripts fewer: an estimate should rather be high. */
const BYTES_PER_TOKEN = 3.5;
/** Role names and separators. */
const TOKENS_PER_MESSAGE = 4;

/** Estimates token counts where the provider offers no count: a client would pay for a call instead. Others go to `send`. */
export const estimatingSender =
  (send: Send): Send =>
  (sending) => {
    const { surface, target, body } = sending;
    const isEstimated =
      surfaceFacts(surface).estimated === true && !supportsSurface(target.provider, surface);
    return isEstimated ? Promise.resolve(estimatedAnswer(surface, body)) : send(sending);
  };

export const estimatedAnswer = (surface: SurfaceName, body: Uint8Array): Response =>
  Response.json(ANSWERS[SURFACES[surface].wire]?.(estimatedCount(body)));

const encoder = new TextEncoder();

/** Each vendor's answer to a count. */
const ANSWERS: Readonly<Partial<Record<WireName, (tokens: number) => object>>> = {
  messages: (input_tokens) => ({ input_tokens }),
  responses: (input_tokens) => ({ object: "response.input_tokens", input_tokens }),
  gemini: (totalTokens) => ({ totalTokens }),
};

/** Tokens of the texts of the call. Images, and documents that are not text, do not count. */
function estimatedCount(bytes: Uint8Array): number {
  const body = scanJson(bytes);
  const messages = ["messages", "contents", "input"]
    .map((name) => memberValue(body, name))
    .find(Array.isArray);
  const size = textsOf(allMembers(body)).reduce((sum, text) => sum + encoder.encode(text).byteLength, 0);
  return Math.ceil(size / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * (messages?.length ?? 0);
}
