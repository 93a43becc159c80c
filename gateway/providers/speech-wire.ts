import { objectOf } from "./provider-json.ts";
import { responsesUsage } from "./responses-usage.ts";
import { typedStreams } from "./typed-stream.ts";
import { openaiErrors, readingOf, type Wire } from "./wire.ts";

/**
 * OpenAI's speech: bytes of sound, which tell nothing and are not looked at; or, where the client asks for
 * `stream_format: "sse"`, events of which the last tells tokens. What is spoken is counted in the request.
 */
export const SPEECH_WIRE: Wire = {
  ...openaiErrors,
  readAnswer: () => readingOf({ usage: null, model: null, tier: null, final: true }),
  openStream: typedStreams({
    markers: ['"speech.audio.done"'],
    update(state, type, event) {
      state.contentSeen ||= type === "speech.audio.delta";
      if (type !== "speech.audio.done") return;
      state.terminalSeen = true;
      const usage = objectOf(event["usage"]);
      if (!usage) return;
      const told = responsesUsage(usage);
      state.usage = { ...told, audioOutputTokens: told.outputTokens };
    },
  }),
  mayBeUsageOnly: () => false,
  opaque: true,
};
