import type { Call, Choice } from "../call.ts";
import { ERRORS } from "../errors.ts";
import { asksForUsage } from "../http/splice.ts";
import { softDenial } from "../providers/soft-denial.ts";
import { SURFACES, surfaceFacts } from "../surface-facts.ts";

/** A guardrail's refusal as an answer. Null on surfaces whose answers are not an assistant's text. */
export function denialOf(call: Call, choice: Choice, message: string | null): Response | null {
  if (surfaceFacts(call.surface).unrecorded) return null;
  return softDenial(SURFACES[call.surface].wire, {
    text: message ?? ERRORS.guardrail_blocked.public,
    id: call.id,
    model: choice.targets[0].model ?? choice.routeName,
    createdAt: Math.floor(call.admittedAt.getTime() / 1000),
    streamed: call.streamed,
    includeUsage: asksForUsage(call.body),
  });
}
