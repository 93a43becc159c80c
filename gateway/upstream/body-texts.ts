import type { JsonBody } from "../call.ts";
import type { GuardrailInput } from "../guardrail/evaluate.ts";
import { textsOf } from "../guardrail/text.ts";
import { additionalModels } from "../http/additional-models.ts";
import { valueAt } from "../http/json-value.ts";
import { allMembers } from "../http/members.ts";

/** The parts of a body that guardrails read. It is decoded at most once, and only if a rule reads it. */
export function bodyTexts(body: JsonBody): Pick<GuardrailInput, "additionalModels" | "texts" | "tokenIds"> {
  let texts: string[] | null = null;
  return {
    additionalModels: () => additionalModels(body),
    texts: () => (texts ??= textsOf(allMembers(body))),
    tokenIds: () => hasTokenIds(body),
  };
}

/** Members that hold a text, which OpenAI's embeddings and completions, and servers like them, also take as token ids. */
const TEXTS = ["input", "prompt", "prompt_token_ids", "input_ids"];
const OPEN_BRACKET = 0x5b;
/** Messages and parts: a list that begins with one holds no token ids. */
const OBJECT_FIRST = /^\[\s*\{/;
const START_BYTES = 64;

/** Whether a text of the body is given as token ids, which only the model's own vocabulary can read. */
export function hasTokenIds({ bytes, members }: JsonBody): boolean {
  return TEXTS.some((name) =>
    members.get(name)?.some((place) => {
      const { valueStart } = place;
      if (bytes[valueStart] !== OPEN_BRACKET) return false;
      const start = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + valueStart,
        Math.min(START_BYTES, bytes.length - valueStart),
      );
      return !OBJECT_FIRST.test(start.toString("latin1")) && holdsNumber(valueAt(bytes, place));
    }),
  );
}

const isNumber = (value: unknown): boolean => typeof value === "number";

const holdsNumber = (value: unknown): boolean =>
  Array.isArray(value) && value.some((it) => isNumber(it) || (Array.isArray(it) && it.some(isNumber)));
