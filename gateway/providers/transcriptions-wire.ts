import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { openaiError } from "./openai-error.ts";
import { countOf, nameOf, objectOf, partOf, type Told, toldIn } from "./provider-json.ts";
import { readingOf } from "./reading-of.ts";
import { typedStreams } from "./typed-stream.ts";
import type { Wire } from "./wires.ts";

/**
 * OpenAI's transcriptions and translations. Some models tell tokens; others tell how long the sound was, which is never
 * recorded (spec, endpoint table), and then nothing is told. Neither is anything in the forms that are not JSON.
 */
export const TRANSCRIPTIONS_WIRE: Wire = {
  ...openaiError,
  readAnswer(bytes) {
    const answer = toldIn(bytes) ?? {};
    return readingOf({ usage: tokensIn(answer), model: nameOf(answer["model"]), tier: null, final: true });
  },
  openStream: typedStreams({
    telling: ['"transcript.text.done"'],
    take(shown, type, event) {
      shown.content ||= type === "transcript.text.delta" || type === "transcript.text.segment";
      if (type !== "transcript.text.done") return;
      shown.terminal = true;
      shown.usage = tokensIn(event) ?? NO_USAGE;
    },
  }),
  mayBeUsageOnly: () => false,
};

function tokensIn(told: Told): Usage | null {
  const usage = objectOf(told["usage"]);
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
