import { type Static, Type } from "@sinclair/typebox";
import { errorFields, type Log } from "#shared/log.ts";
import { boundedText, fits, open, Removable } from "#shared/schema.ts";
import type { GuardrailCallout } from "../directory.ts";
import type { GuardrailInput, GuardrailTools, Objection } from "../guardrail/evaluate.ts";
import type { OutboundFetch } from "./outbound-fetch.ts";
import { bytesUpTo } from "./whole-body.ts";

const ANSWER_BYTES_MAX = 64 * 1024;

/** A service's answer with status 200. */
const Answer = open({
  action: Type.Union([Type.Literal("allow"), Type.Literal("deny")]),
  message: Removable(boundedText({ maxLength: 1000 })),
});

/**
 * Calls a rule's service by POST with the call's labels and decoded texts. Sends no credential, follows no redirect, and
 * reaches no internal address. If the service fails in any way, the rule's `onFailure` decides.
 */
export const createCalloutClient =
  (outboundFetch: OutboundFetch, log: Log): GuardrailTools["consult"] =>
  async ({ name, callout }, input): Promise<Objection | null> => {
    if (!callout) return null;
    try {
      const { action, message = null } = await decision(outboundFetch, callout, questionOf(name, input));
      return action === "deny" ? { message } : null;
    } catch (error) {
      log.warn({ guardrail: name, ...errorFields(error) }, "a guardrail's service gave no valid answer");
      return callout.onFailure === "closed" ? { message: null } : null;
    }
  };

async function decision(
  outboundFetch: OutboundFetch,
  callout: GuardrailCallout,
  question: object,
): Promise<Static<typeof Answer>> {
  const response = await outboundFetch(callout, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(question),
    signal: AbortSignal.timeout(callout.timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error("a guardrail's service answered with another status than 200");
  }
  const answer = JSON.parse((await bytesUpTo(response, ANSWER_BYTES_MAX, tooLong)).toString("utf8"));
  if (!fits(Answer, answer)) throw new Error("a guardrail's service answered in another form");
  return answer;
}

const questionOf = (guardrail: string, { key, labels, choice, tool, ...read }: GuardrailInput) => ({
  guardrail,
  route: choice?.routeName ?? null,
  model: choice?.targets[0].model ?? null,
  ...(tool && { tool }),
  key: { id: key.id, name: key.name },
  client: labels.client,
  tags: labels.tags,
  texts: read.texts(),
  ...(read.tokenIds?.() && { token_ids: true }),
});

const tooLong = () => new Error("a guardrail's service answered with too much");
