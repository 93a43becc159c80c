import type { Call, Target } from "../call.ts";
import { splice } from "../http/splice.ts";
import { surfaceFacts } from "../surface-facts.ts";

/** Members whose objects may name the model again: those of batchEmbedContents and of countTokens. */
const GEMINI_REQUESTS = ["requests", "generateContentRequest"];

/** The client's body with the target's model. Gemini's path names it, so a model in the body must be the same. */
export function nativeBody({ body, surface }: Call, { model }: Target, askForUsage: boolean): Uint8Array {
  // What a vendor's own address reads in a body is not known here.
  if (surface === "pass_through") return body.bytes;
  const { methods, wire } = surfaceFacts(surface);
  if (!methods) {
    return splice(body, { ...(model === null || wire === "bedrock" ? {} : { model }), askForUsage });
  }
  return splice(body, {
    remove: ["model"],
    modelWithin: { members: GEMINI_REQUESTS, model: `models/${model}` },
  });
}
