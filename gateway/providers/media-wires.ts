import { NO_USAGE, type Usage } from "#shared/usage.ts";
import type { ProviderObject } from "./provider-json.ts";
import { addUsage, countOf, nameOf, objectOf, parseObject, partOf } from "./provider-json.ts";
import { reportedCostOf } from "./reported-cost.ts";
import { responsesUsage } from "./responses-usage.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown, RESPONSES_MEMBERS, TRANSCRIPTION_MEMBERS } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

/**
 * OpenAI's images. The returned images are counted, so that a partial failure costs less; newer models also report
 * tokens. A stream has no terminal event: it is complete when it has all images.
 */
export const IMAGES_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer(bytes, facts) {
    const answer = parseObject(bytes) ?? {};
    const data = answer["data"];
    const images = Array.isArray(data) ? data.length : null;
    const usage = images === null ? null : { ...imageTokensIn(answer), images };
    const told = objectOf(answer["usage"]);
    const cost = reportedCostOf(told, facts);
    const billsMore = objectOf(answer["svg_usage"]) !== null || hasUnknown(told, RESPONSES_MEMBERS);
    return readingOf({ usage, model: nameOf(answer["model"]), tier: null, final: true, cost, billsMore });
  },
  openStream: typedStreams({
    markers: ['.completed"'],
    update(state, type, event) {
      const completed = type.endsWith(".completed");
      state.contentSeen ||= completed || type.endsWith(".partial_image");
      state.model ??= nameOf(event["model"]);
      if (!completed) return;
      // Each completed image reports its own tokens.
      state.usage = addUsage(state.usage, { ...imageTokensIn(event), images: 1 });
      state.billsMore ||= hasUnknown(objectOf(event["usage"]), RESPONSES_MEMBERS);
    },
  }),
  endsWithBody: true,
};

/** Output without details is that of images alone, as it always is in streams. */
function imageTokensIn(object: ProviderObject): Usage {
  const told = objectOf(object["usage"]);
  const usage = told ? responsesUsage(told) : NO_USAGE;
  return { ...usage, imageOutputTokens: usage.imageOutputTokens ?? usage.outputTokens };
}

/**
 * OpenAI's speech: audio bytes, which contain no usage and are not read; or, with `stream_format: "sse"`, events of
 * which the last reports tokens. Characters are counted in the request.
 */
export const SPEECH_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer: () => readingOf({ usage: null, model: null, tier: null, final: true }),
  openStream: typedStreams({
    markers: ['"speech.audio.done"'],
    update(state, type, event) {
      state.contentSeen ||= type === "speech.audio.delta";
      if (type !== "speech.audio.done") return;
      state.terminalSeen = true;
      const usage = objectOf(event["usage"]);
      if (!usage) return;
      const counts = responsesUsage(usage);
      state.usage = { ...counts, audioOutputTokens: counts.outputTokens };
      state.billsMore = hasUnknown(usage, RESPONSES_MEMBERS);
    },
  }),
  opaque: true,
};

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
