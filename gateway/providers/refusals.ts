import type { WireName } from "../call.ts";
import type { Refusal, Written } from "./refusal.ts";
import { chatRefusal } from "./refusal-chat.ts";
import { messagesRefusal } from "./refusal-messages.ts";
import { responsesRefusal } from "./refusal-responses.ts";

/** The wires on which an assistant answers in text. */
const REFUSALS: Partial<Record<WireName, (refusal: Refusal) => Written>> = {
  chat: chatRefusal,
  messages: messagesRefusal,
  responses: responsesRefusal,
};

/**
 * A refusal as an ordinary, complete answer of the wire's own form, plain or streamed, with zero usage; the header
 * `x-gateway-guardrail` alone tells it from one. Null on a wire whose answers are no text.
 */
export function softDenial(wire: WireName, refusal: Refusal): Response | null {
  const written = REFUSALS[wire]?.(refusal);
  if (!written) return null;
  const type = refusal.streamed ? "text/event-stream; charset=utf-8" : "application/json";
  return new Response(written.body, {
    headers: {
      "content-type": type,
      "x-gateway-guardrail": "soft-deny",
      [written.idHeader]: refusal.id,
      ...(refusal.streamed && { "cache-control": "no-cache" }),
    },
  });
}
