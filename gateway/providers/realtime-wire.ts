import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { TRANSCRIPTIONS_WIRE } from "./media-wires.ts";
import { countOf, errorNameOf, inputParts, objectOf, type ProviderObject, partOf } from "./provider-json.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown, REALTIME_MEMBERS } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, type Wire } from "./wire.ts";

/** One response of OpenAI's realtime API, from `response.created` to `response.done`; a plain answer is a transcription of its input. */
export const REALTIME_WIRE: Wire = {
  ...OPENAI_LIKE_WIRE,
  readAnswer: TRANSCRIPTIONS_WIRE.readAnswer,
  openStream: typedStreams({
    markers: ['"response.done"'],
    update(state, type, event) {
      state.contentSeen ||= type.endsWith(".delta");
      if (type !== "response.done") return;
      const response = objectOf(event["response"]) ?? {};
      const usage = objectOf(response["usage"]);
      state.terminalSeen = true;
      state.usage = usage ? realtimeUsage(usage) : NO_USAGE;
      state.billsMore = hasUnknown(usage, REALTIME_MEMBERS) || (cachedIn(usage, "image_tokens") ?? 0) > 0;
      const error = objectOf(objectOf(response["status_details"])?.["error"]) ?? {};
      if (response["status"] === "failed") state.failure = errorNameOf(error);
    },
  }),
};

/** Cached tokens of one kind; those of images have a price of their own, and no count. */
const cachedIn = (usage: ProviderObject | null, kind: string): number | null =>
  countOf(objectOf(objectOf(usage?.["input_token_details"])?.["cached_tokens_details"])?.[kind]);

/** The input includes what was cached, and both are split by kind (OpenAI, "response.done"). */
function realtimeUsage(usage: ProviderObject): Usage {
  const [input, output] = [countOf(usage["input_tokens"]), countOf(usage["output_tokens"])];
  const details = objectOf(usage["input_token_details"]);
  const parts = inputParts(input, { read: countOf(details?.["cached_tokens"]) });
  const images = (countOf(details?.["image_tokens"]) ?? 0) - (cachedIn(usage, "image_tokens") ?? 0);
  return {
    ...NO_USAGE,
    ...parts,
    audioInputTokens: partOf(countOf(details?.["audio_tokens"]), input),
    cacheReadAudioTokens: partOf(cachedIn(usage, "audio_tokens"), parts.cacheReadTokens),
    imageInputTokens: partOf(countOf(images), parts.uncachedInputTokens),
    outputTokens: output,
    audioOutputTokens: partOf(countOf(objectOf(usage["output_token_details"])?.["audio_tokens"]), output),
  };
}
