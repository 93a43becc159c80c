import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, nameOf, objectOf, type ProviderObject, parseObject, partOf } from "./provider-json.ts";
import { typedStreams } from "./typed-stream.ts";
import { openaiErrors, readingOf, type Wire } from "./wire.ts";

/**
 * OpenAI's transcriptions and translations. Some models report tokens. Others report only the duration, which is not
 * recorded: they have no usage, and neither have formats other than JSON.
 */
export const TRANSCRIPTIONS_WIRE: Wire = {
  ...openaiErrors,
  readAnswer(bytes) {
    const answer = parseObject(bytes) ?? {};
    return readingOf({ usage: tokensIn(answer), model: nameOf(answer["model"]), tier: null, final: true });
  },
  openStream: typedStreams({
    markers: ['"transcript.text.done"'],
    update(state, type, event) {
      state.contentSeen ||= type === "transcript.text.delta" || type === "transcript.text.segment";
      if (type !== "transcript.text.done") return;
      state.terminalSeen = true;
      state.usage = tokensIn(event) ?? NO_USAGE;
    },
  }),
  mayBeUsageOnly: () => false,
};

function tokensIn(object: ProviderObject): Usage | null {
  const usage = objectOf(object["usage"]);
  if (!usage || usage["type"] === "duration") return null;
  const input = countOf(usage["input_tokens"]);
  const audio = countOf(objectOf(usage["input_token_details"])?.["audio_tokens"]);
  return {
    ...NO_USAGE,
    uncachedInputTokens: input,
    audioInputTokens: partOf(audio, input),
    outputTokens: countOf(usage["output_tokens"]),
  };
}
