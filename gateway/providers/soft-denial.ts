import type { WireName } from "../surface-facts.ts";
import type { TextAnswer } from "./text-answer.ts";
import { isTextWire, TEXT_WIRES } from "./text-wires.ts";
import { WIRES } from "./wires.ts";

export type SoftDenial = { text: string } & Pick<
  TextAnswer,
  "id" | "model" | "createdAt" | "streamed" | "includeUsage"
>;

/**
 * A denial in the form of an ordinary, complete answer of the wire, plain or streamed, with zero usage. Only the header
 * `x-gateway-guardrail` distinguishes it. Null on a wire whose answers are not text.
 */
export function softDenial(wire: WireName, { text, ...answer }: SoftDenial): Response | null {
  if (!isTextWire(wire)) return null;
  const body = TEXT_WIRES[wire]({
    ...answer,
    pieces: [text],
    inputTokens: 0,
    outputTokens: 0,
    truncated: false,
  });
  return new Response(body, {
    headers: {
      "content-type": answer.streamed ? "text/event-stream; charset=utf-8" : "application/json",
      "x-gateway-guardrail": "soft-deny",
      [WIRES[wire].requestIdHeader]: answer.id,
      ...(answer.streamed && { "cache-control": "no-cache" }),
    },
  });
}
