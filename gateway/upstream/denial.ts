import type { Call, Choice } from "../call.ts";
import { ERRORS } from "../errors.ts";
import { asksForUsage } from "../http/splice.ts";
import { WIRES } from "../providers/wires.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";
import { isTextWire, ownAnswer } from "./own-answer.ts";

/**
 * A guardrail's refusal as an ordinary, complete answer with zero usage, plain or streamed. Only the header
 * `x-gateway-guardrail` distinguishes it. Null on surfaces whose answers are not an assistant's text.
 */
export function denialOf(call: Call, choice: Choice, message: string | null): Response | null {
  const { wire } = SURFACES[call.surface];
  if (surfaceFacts(call.surface).unrecorded || !isTextWire(wire)) return null;
  const answer = ownAnswer(wire, {
    pieces: [message ?? ERRORS.guardrail_blocked.public],
    id: call.id,
    model: choice.targets[0].model ?? choice.routeName,
    createdAt: Math.floor(call.admittedAt.getTime() / 1000),
    inputTokens: 0,
    outputTokens: 0,
    truncated: false,
    streamed: call.streamed,
    includeUsage: asksForUsage(call.body),
  });
  answer.headers.set("x-gateway-guardrail", "soft-deny");
  answer.headers.set(WIRES[wire].requestIdHeader, call.id);
  return answer;
}
