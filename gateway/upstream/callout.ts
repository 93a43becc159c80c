import { type Static, Type } from "@sinclair/typebox";
import { errorFields, type Log } from "#shared/log.ts";
import { fits, nullable, open, textOf } from "#shared/schema.ts";
import type { Callout, Guardrail } from "../directory.ts";
import type { Judged, JudgeTools, Objection } from "../guardrail/judge.ts";
import type { Reach } from "./reach.ts";

const ANSWER_BYTES_MAX = 64 * 1024;

/** What a service answers, with status 200. */
const Answer = open({
  action: Type.Union([Type.Literal("allow"), Type.Literal("deny")]),
  message: Type.Optional(nullable(textOf({ maxLength: 1000 }))),
});

/**
 * Asks the service of a rule by POST with the call's labels and decoded texts. No credential goes with it, no redirect is
 * followed, no address of the inside is called. A failure of any kind lets the call go on or refuses it, as the rule
 * says.
 */
export const consultant =
  (reach: Reach, log: Log): JudgeTools["consult"] =>
  async ({ name, callout }, judged): Promise<Objection | null> => {
    if (!callout) return null;
    try {
      const { action, message = null } = await asked(reach, callout, { name }, judged);
      return action === "deny" ? { message } : null;
    } catch (error) {
      log.warn({ guardrail: name, ...errorFields(error) }, "the service of a guardrail gave no answer");
      return callout.onFailure === "closed" ? { message: null } : null;
    }
  };

async function asked(
  reach: Reach,
  callout: Callout,
  { name }: Pick<Guardrail, "name">,
  judged: Judged,
): Promise<Static<typeof Answer>> {
  const question = JSON.stringify(questionOf(name, judged));
  const response = await reach(callout, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: question,
    signal: AbortSignal.timeout(callout.timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error("the service of a guardrail answered with another status than 200");
  }
  const answer = JSON.parse(await bounded(response));
  if (!fits(Answer, answer)) throw new Error("the service of a guardrail answered in another form");
  return answer;
}

const questionOf = (guardrail: string, { key, labels, choice, texts }: Judged) => ({
  guardrail,
  route: choice.routeName,
  model: choice.targets[0].model,
  key: { id: key.id, name: key.name },
  client: labels.client,
  tags: labels.tags,
  texts: texts(),
});

async function bounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > ANSWER_BYTES_MAX) throw new Error("the service of a guardrail answered with too much");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
