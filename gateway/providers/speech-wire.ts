import { objectOf } from "./provider-json.ts";
import { responsesUsage } from "./responses-usage.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown, RESPONSES_MEMBERS } from "./usage-members.ts";
import { OPENAI_LIKE_WIRE, readingOf, type Wire } from "./wire.ts";

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
