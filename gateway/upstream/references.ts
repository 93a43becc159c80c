import type { Call, Choice } from "../call.ts";
import { scanJson } from "../http/scan.ts";
import type { KeptAnswers } from "../stores/kept-answers.ts";
import { SURFACES } from "../surface-facts.ts";
import { COMPACTED, withSummaries } from "../translate/compaction.ts";
import { isJson, jsonBytes, objectInBytes } from "../translate/exact-json.ts";
import {
  answersReferredTo,
  answerToken,
  ID_MARK,
  previousIn,
  withReferences,
} from "../translate/responses/references.ts";
import { isSealed } from "../translate/thoughts.ts";
import type { Attempt } from "./attempt.ts";
import { withConversation } from "./socket-conversation.ts";

/**
 * The call with everything in place that it refers to of earlier translated answers. Guardrails and limits see it, too.
 * Any other call is the same, and its body is not even parsed.
 * @throws GatewayError invalid_request naming a reference to what is not kept, or store_unavailable.
 */
export async function resolveReferences(
  store: Pick<KeptAnswers, "find">,
  received: Call,
  choice: Choice,
): Promise<Call> {
  const call = withConversation(received, choice);
  const { surface, key } = call;
  if (SURFACES[surface].wire !== "responses" || !isMarked(call.body.bytes)) return call;
  const request = objectInBytes(call.body.bytes);
  if (!request) return call;
  const ids = answersReferredTo(request);
  const { body, own } = withReferences(request, ids.length > 0 ? await store.find(key.id, ids) : new Map());
  const native = choice.targets[0].wire === SURFACES[surface].wire;
  const input = withSummaries(native ? body.input.filter((item) => !isOurs(item)) : body.input);
  return {
    ...call,
    body: scanJson(jsonBytes({ ...body, input })),
    continues: { previousId: previousIn(request), input: own },
  };
}

function isMarked(bytes: Uint8Array): boolean {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return body.includes(ID_MARK) || body.includes(COMPACTED);
}

/** Reasoning of another vendor, which the format's own vendor cannot read. */
const isOurs = (item: unknown): boolean => isJson(item) && isSealed(item["encrypted_content"]);

/** Keeps a translated answer for later calls. Never rejects. */
export async function keepAnswer(
  store: Pick<KeptAnswers, "keep">,
  { id, key, continues }: Call,
  attempt: Extract<Attempt, { kind: "answer" }>,
): Promise<void> {
  const answered = attempt.translation?.answered();
  if (!answered) return;
  await store.keep(key.id, {
    id: answerToken(id),
    previousId: continues?.previousId ?? null,
    input: continues ? continues.input : answered.input,
    output: answered.output,
  });
}
