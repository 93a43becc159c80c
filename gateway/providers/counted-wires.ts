import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { reportedCostOf } from "./reported-cost.ts";
import { typedStreams } from "./typed-stream.ts";
import { CHAT_MEMBERS, hasUnknown, type UsageMembers } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

const COUNTED_MEMBERS: UsageMembers = { ...CHAT_MEMBERS, search_units: true };

/** A wire without streams. `usageOf` finds the usage in an answer. */
const counted = (usageOf: (answer: ProviderObject) => Usage | null): Wire => ({
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts) {
    const answer = parseObject(bytes) ?? {};
    const told = objectOf(answer["usage"]);
    const cost = reportedCostOf(told, facts);
    const units = objectOf(objectOf(answer["meta"])?.["billed_units"]);
    return readingOf({
      usage: usageOf(answer),
      model: nameOf(answer["model"]),
      tier: null,
      final: true,
      cost,
      billsMore: hasUnknown(told, COUNTED_MEMBERS) || hasUnknown(units, COUNTED_MEMBERS),
    });
  },
  openStream: typedStreams({ markers: [], update: () => undefined }),
  endsWithBody: true,
});

/** Usage of a model that only reads: the output is known to be 0. */
const readOnly = (input: number | null, output: number | null = null): Partial<Usage> =>
  input === null ? {} : { uncachedInputTokens: input, outputTokens: output ?? 0 };

/** OpenAI's `prompt_tokens`; some vendors report only the total. */
const inputIn = (usage: ProviderObject | null): number | null =>
  countOf(usage?.["prompt_tokens"]) ?? countOf(usage?.["total_tokens"]);

export const EMBEDDINGS_WIRE = counted((answer) => ({
  ...NO_USAGE,
  ...readOnly(inputIn(objectOf(answer["usage"]))),
}));

/** Vendors report no usage for moderations and do not charge for them. */
export const MODERATIONS_WIRE = counted(() => null);

/**
 * Rerankers: Cohere bills search units under `meta`, OpenRouter under `usage`; Jina and Voyage report total tokens, vLLM
 * and Together prompt tokens as well.
 */
export const RERANK_WIRE = counted((answer) => {
  const meta = objectOf(answer["meta"]);
  const usage = objectOf(answer["usage"]);
  const tokens = objectOf(meta?.["tokens"]);
  const input = countOf(tokens?.["input_tokens"]) ?? inputIn(usage);
  const output = countOf(tokens?.["output_tokens"]) ?? countOf(usage?.["completion_tokens"]);
  const units = countOf(objectOf(meta?.["billed_units"])?.["search_units"]);
  return {
    ...NO_USAGE,
    ...readOnly(input, output),
    searchUnits: units ?? countOf(usage?.["search_units"]),
  };
});
