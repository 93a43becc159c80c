import { listOf, objectOf, type ProviderObject } from "../../providers/provider-json.ts";
import { echoDimensions, echoVector } from "./embeddings.ts";
import { echoInputTokens, echoTexts, jsonAnswer } from "./text.ts";

/** A generateContent body's texts as a system text and messages. */
export const geminiConversation = (body: ProviderObject): ProviderObject => ({
  system: objectOf(body["systemInstruction"])?.["parts"],
  messages: listOf(body["contents"])
    .map(objectOf)
    .map((turn) => ({ role: turn?.["role"] ?? "user", content: turn?.["parts"] })),
});

export const echoCountTokens = (body: ProviderObject): Response => {
  const request = objectOf(body["generateContentRequest"]) ?? body;
  return jsonAnswer({ totalTokens: echoInputTokens(geminiConversation(request)) });
};

/** The embedding of a request's texts. */
function valuesOf(request: ProviderObject | null): number[] {
  const text = echoTexts(objectOf(request?.["content"])?.["parts"]).join("\n");
  return [...echoVector(text, echoDimensions(request?.["outputDimensionality"]))];
}

const contentTokens = (request: ProviderObject | null): number =>
  echoInputTokens({ messages: [{ content: objectOf(request?.["content"])?.["parts"] }] });

/** One embedding, or the list of a batch. */
export function echoGeminiEmbeddings(body: ProviderObject): Response {
  const batch = body["requests"];
  const requests = Array.isArray(batch) ? batch.map(objectOf) : [body];
  const embeddings = requests.map((request) => ({ values: valuesOf(request) }));
  const tokens = requests.reduce((sum, request) => sum + contentTokens(request), 0);
  return jsonAnswer({
    ...(Array.isArray(batch) ? { embeddings } : { embedding: embeddings[0] }),
    usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens },
  });
}
