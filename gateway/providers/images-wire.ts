import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { addUsage, nameOf, objectOf, type ProviderObject, parseObject } from "./provider-json.ts";
import { reportedCostOf } from "./reported-cost.ts";
import { responsesUsage } from "./responses-usage.ts";
import { typedStreams } from "./typed-stream.ts";
import { hasUnknown, RESPONSES_MEMBERS } from "./usage-members.ts";
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
    const usage = images === null ? null : { ...tokensIn(answer), images };
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
      state.usage = addUsage(state.usage, { ...tokensIn(event), images: 1 });
      state.billsMore ||= hasUnknown(objectOf(event["usage"]), RESPONSES_MEMBERS);
    },
  }),
  endsWithBody: true,
};

/** Output without details is that of images alone, as it always is in streams. */
function tokensIn(object: ProviderObject): Usage {
  const told = objectOf(object["usage"]);
  const usage = told ? responsesUsage(told) : NO_USAGE;
  return { ...usage, imageOutputTokens: usage.imageOutputTokens ?? usage.outputTokens };
}
