import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { countOf, nameOf, objectOf, type ProviderObject, parseObject, partOf } from "./provider-json.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown, TRANSCRIPTION_MEMBERS } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

/**
 * OpenAI's transcriptions and translations. Some models report tokens. Others report only the duration that they bill,
 * which is priced and never recorded. Formats other than JSON have neither.
 */
export const TRANSCRIPTIONS_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes) {
    const answer = parseObject(bytes) ?? {};
    const [usage, audioSeconds, billsMore] = [tokensIn(answer), secondsIn(answer), isUnknownIn(answer)];
    const model = nameOf(answer["model"]);
    return readingOf({ usage, audioSeconds, billsMore, model, tier: null, final: true });
  },
  openStream: typedStreams({
    markers: ['"transcript.text.done"'],
    update(state, type, event) {
      state.contentSeen ||= type === "transcript.text.delta" || type === "transcript.text.segment";
      if (type !== "transcript.text.done") return;
      state.terminalSeen = true;
      state.usage = tokensIn(event) ?? NO_USAGE;
      state.audioSeconds = secondsIn(event);
      state.billsMore = isUnknownIn(event);
    },
  }),
};

const isUnknownIn = (object: ProviderObject): boolean =>
  hasUnknown(objectOf(object["usage"]), TRANSCRIPTION_MEMBERS);

/** Longer than any file that a vendor takes. */
const SECONDS_MAX = 1_000_000;

/** OpenAI's field, Mistral's. */
function secondsIn(object: ProviderObject): number | null {
  const usage = objectOf(object["usage"]);
  const seconds = usage?.["type"] === "duration" ? usage["seconds"] : usage?.["prompt_audio_seconds"];
  return typeof seconds === "number" && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : null;
}

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
