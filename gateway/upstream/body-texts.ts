import type { JsonBody } from "../call.ts";
import type { GuardrailInput } from "../guardrail/evaluate.ts";
import { textsOf } from "../guardrail/text.ts";
import { additionalModels } from "../http/additional-models.ts";
import { allMembers } from "../http/members.ts";
import { hasTokenIds } from "../http/token-ids.ts";

/** The parts of a body that guardrails read. It is decoded at most once, and only if a rule reads it. */
export function bodyTexts(body: JsonBody): Pick<GuardrailInput, "additionalModels" | "texts" | "tokenIds"> {
  let texts: string[] | null = null;
  return {
    additionalModels: () => additionalModels(body),
    texts: () => (texts ??= textsOf(allMembers(body))),
    tokenIds: () => hasTokenIds(body),
  };
}
