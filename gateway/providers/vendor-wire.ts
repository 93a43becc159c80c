import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { Reading } from "../reading.ts";
import { CHAT_WIRE } from "./chat-wire.ts";
import { GEMINI_WIRE } from "./gemini-wire.ts";
import { MESSAGES_WIRE } from "./messages-wire.ts";
import type { ProviderFacts } from "./provider-facts.ts";
import { countOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { RESPONSES_WIRE } from "./responses-wire.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

/** Answers that none of the other formats has: of Cohere's own addresses, and of any address that is passed through. */
export const VENDOR_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts) {
    const answer = parseObject(bytes) ?? {};
    const reading = readingOfAny(answer, { bytes, facts });
    // A file that was uploaded is described inside.
    const made = objectOf(answer["file"]) ?? answer;
    const keptId = nameOf(made["id"]) ?? nameOf(made["name"]);
    return keptId === null ? reading : { ...reading, keptId };
  },
  openStream: typedStreams({
    markers: ["message-end", "stream-end", "billed_units"],
    update(state, type, event) {
      state.contentSeen ||= type === "content-delta" || type === "text-generation";
      const end = objectOf(event["delta"]) ?? objectOf(event["response"]) ?? event;
      const units = billedUnits(end);
      if (units) {
        state.usage = cohereUsage(units);
        state.billsMore = hasUnknown(units, UNITS);
      }
      state.terminalSeen ||= type === "message-end" || type === "stream-end";
    },
  }),
  endsWithBody: true,
};

type Answered = { bytes: Uint8Array; facts: ProviderFacts };

/** By the names in its usage. */
function readingOfAny(answer: ProviderObject, { bytes, facts }: Answered): Reading {
  const usage = objectOf(answer["usage"]);
  const units = billedUnits(answer);
  if (units) {
    const billsMore = hasUnknown(units, UNITS);
    const common = { model: nameOf(answer["model"]), tier: null, final: true };
    return readingOf({ ...common, usage: cohereUsage(units), billsMore });
  }
  if (answer["usageMetadata"]) return GEMINI_WIRE.readAnswer(bytes, facts);
  if (usage?.["prompt_tokens"] !== undefined) return CHAT_WIRE.readAnswer(bytes, facts);
  if (answer["type"] === "message") return MESSAGES_WIRE.readAnswer(bytes, facts);
  if (usage?.["input_tokens"] !== undefined) return RESPONSES_WIRE.readAnswer(bytes, facts);
  return readingOf({ usage: null, model: nameOf(answer["model"]), tier: null, final: true });
}

/** What Cohere bills: in `usage` of its chat, in `meta` of all else. */
const billedUnits = (answer: ProviderObject): ProviderObject | null =>
  objectOf((objectOf(answer["usage"]) ?? objectOf(answer["meta"]))?.["billed_units"]);

const UNITS = { input_tokens: true, output_tokens: true, search_units: true } as const;

const cohereUsage = (units: ProviderObject): Usage => ({
  ...NO_USAGE,
  uncachedInputTokens: countOf(units["input_tokens"]),
  outputTokens: countOf(units["output_tokens"]) ?? 0,
  searchUnits: countOf(units["search_units"]),
});
