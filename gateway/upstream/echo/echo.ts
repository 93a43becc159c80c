import type { ProviderObject } from "../../providers/provider-json.ts";
import { countOf, listOf, objectOf, parseObject } from "../../providers/provider-json.ts";
import { WIRES } from "../../providers/wires.ts";
import { SURFACES, type SurfaceName, surfaceFacts, type WireName } from "../../surface-facts.ts";
import { clientErrorBody } from "../../translate/error-shapes.ts";
import { ownAnswer, type TextWire } from "../own-answer.ts";
import { echoDimensions, echoEmbeddings, echoVector } from "./embeddings.ts";
import { echoImageEdits, echoImages, echoSpeech } from "./media.ts";
import { echoModerations } from "./moderations.ts";
import { echoRerank, echoRerankV2 } from "./rerank.ts";
import { echoInputTokens, echoModel, echoReply, echoTexts, echoTokens, jsonAnswer } from "./text.ts";

/** How the built-in provider answers a surface. `id` is a hash of the request's bytes. */
type Echo = {
  /** The member without which there is nothing to answer, and its type. */
  needs: { member: string; kind: "list" | "text" | "text or list" | "object" };
  answer(body: ProviderObject, id: string): Response;
};

/** `model` and `streamed` count on surfaces that have them in the path. */
type EchoRequest = { surface: SurfaceName; bytes: Uint8Array; model?: string | null; streamed?: boolean };

type Kind = Echo["needs"]["kind"];

/** An answer that needs a member of this kind. */
const needing = (member: string, kind: Kind, answer: Echo["answer"]): Echo => ({
  needs: { member, kind },
  answer,
});

const echoChat = echoText("chat", (body) =>
  echoReply(body, countOf(body["max_completion_tokens"]) ?? countOf(body["max_tokens"])),
);
const echoMessages = echoText("messages", (body) => echoReply(body, countOf(body["max_tokens"])));
const echoResponses = echoText("responses", (body) =>
  echoReply(conversationOf(body), countOf(body["max_output_tokens"])),
);

const echoCompletions = echoText("completions", (body) => {
  const content = listOf(body["prompt"]).join("\n") || body["prompt"];
  return echoReply({ messages: [{ role: "user", content }] }, countOf(body["max_tokens"]));
});
const echoGemini = echoText("gemini", (body) =>
  echoReply(geminiConversation(body), countOf(objectOf(body["generationConfig"])?.["maxOutputTokens"])),
);

const geminiConversation = (body: ProviderObject): ProviderObject => ({
  system: objectOf(body["systemInstruction"])?.["parts"],
  messages: listOf(body["contents"])
    .map(objectOf)
    .map((turn) => ({ role: turn?.["role"] ?? "user", content: turn?.["parts"] })),
});

const echoCountTokens = (body: ProviderObject): Response => {
  const request = objectOf(body["generateContentRequest"]) ?? body;
  return jsonAnswer({ totalTokens: echoInputTokens(geminiConversation(request)) });
};

function valuesOf(request: ProviderObject | null): number[] {
  const text = echoTexts(objectOf(request?.["content"])?.["parts"]).join("\n");
  return [...echoVector(text, echoDimensions(request?.["outputDimensionality"]))];
}

const contentTokens = (request: ProviderObject | null): number =>
  echoInputTokens({ messages: [{ content: objectOf(request?.["content"])?.["parts"] }] });

/** One embedding, or the list of a batch. */
function echoGeminiEmbeddings(body: ProviderObject): Response {
  const batch = body["requests"];
  const requests = Array.isArray(batch) ? batch.map(objectOf) : [body];
  const embeddings = requests.map((request) => ({ values: valuesOf(request) }));
  const tokens = requests.reduce((sum, request) => sum + contentTokens(request), 0);
  return jsonAnswer({
    ...(Array.isArray(batch) ? { embeddings } : { embedding: embeddings[0] }),
    usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens },
  });
}

const ABSENT: Echo = needing("model", "text", () => jsonAnswer({}, 404));

const ECHOES = {
  "chat.completions": needing("messages", "list", echoChat),
  messages: needing("messages", "list", echoMessages),
  "messages.count_tokens": needing("messages", "list", (body) =>
    jsonAnswer({ input_tokens: echoInputTokens(body) }),
  ),
  responses: needing("input", "text or list", echoResponses),
  "responses.input_tokens": needing("input", "text or list", (body) =>
    jsonAnswer({ object: "response.input_tokens", input_tokens: echoInputTokens(conversationOf(body)) }),
  ),
  "responses.compact": needing("input", "text or list", echoCompaction),
  completions: needing("prompt", "text or list", echoCompletions),
  embeddings: needing("input", "text or list", echoEmbeddings),
  moderations: needing("input", "text or list", echoModerations),
  "images.generations": needing("prompt", "text", echoImages),
  "images.edits": needing("prompt", "text", echoImageEdits),
  "images.variations": needing("model", "text", echoImageEdits),
  "audio.transcriptions": needing("model", "text", emptyTranscription),
  "audio.translations": needing("model", "text", emptyTranscription),
  "audio.speech": needing("input", "text", echoSpeech),
  rerank: needing("documents", "list", echoRerank),
  "rerank.v2": needing("documents", "list", echoRerankV2),
  generate_content: needing("contents", "list", echoGemini),
  "generate_content.count_tokens": needing("contents", "list", echoCountTokens),
  embed_content: needing("content", "object", echoGeminiEmbeddings),
  "embed_content.batch": needing("requests", "list", echoGeminiEmbeddings),
  invoke: ABSENT,
  converse: ABSENT,
  realtime: ABSENT,
  "realtime.session": ABSENT,
  // It has no addresses of its own.
  pass_through: ABSENT,
} as const satisfies Record<SurfaceName, Echo>;

const IS_KIND = {
  list: (value: unknown) => Array.isArray(value),
  text: (value: unknown) => typeof value === "string",
  object: (value: unknown) => objectOf(value) !== null,
  "text or list": (value: unknown) => typeof value === "string" || Array.isArray(value),
} as const satisfies Record<Echo["needs"]["kind"], (value: unknown) => boolean>;

/**
 * The built-in provider's answer, plain or streamed, framed exactly as the wire's vendor would frame it. In a
 * conversation it repeats the last user message. The same bytes always get the same answer; `created` is always 0.
 */
export function echoFetch(request: EchoRequest): Response {
  const { needs, answer }: Echo = ECHOES[request.surface];
  const { wire } = SURFACES[request.surface];
  const id = Bun.hash(request.bytes).toString(16).padStart(16, "0");
  const requestId = `req_echo_${id}`;
  const body = withPath(parseObject(request.bytes), request);
  const fault = !body
    ? "The body is not a JSON object."
    : IS_KIND[needs.kind](body[needs.member])
      ? null
      : `${needs.member}: a ${needs.kind} is required.`;
  const response = body && fault === null ? answer(body, id) : refusal(wire, fault ?? "", requestId);
  response.headers.set(WIRES[wire].requestIdHeader, requestId);
  return response;
}

/** On surfaces whose path names the model, as if the body named it, and whether to stream. */
const withPath = (
  body: ProviderObject | null,
  { surface, model, streamed }: EchoRequest,
): ProviderObject | null =>
  body && surfaceFacts(surface).methods ? { ...body, model, stream: streamed === true } : body;

function refusal(wire: WireName, message: string, requestId: string): Response {
  const format = wire === "messages" ? wire : wire.startsWith("gemini") ? "gemini" : "chat";
  return jsonAnswer(clientErrorBody(format, { status: 400, body: { error: { message } }, requestId }), 400);
}

function echoText(
  wire: TextWire,
  reply: (body: ProviderObject) => ReturnType<typeof echoReply>,
): Echo["answer"] {
  return (body, id) =>
    ownAnswer(wire, {
      ...reply(body),
      id: wire === "chat" ? `echo-${id}` : `echo_${id}`,
      model: echoModel(body),
      createdAt: 0,
      streamed: body["stream"] === true,
      includeUsage: objectOf(body["stream_options"])?.["include_usage"] === true,
      request: body,
    });
}

/** A responses body's texts as messages: `input` is a text, or a list of items of which those with a role count. */
function conversationOf(body: ProviderObject): ProviderObject {
  const input = body["input"];
  const messages = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
  return { system: body["instructions"], messages: messages.filter((item) => objectOf(item)?.["role"]) };
}

/** What users said, and then everything, packed as a vendor would encrypt it. */
function echoCompaction(body: ProviderObject, id: string): Response {
  const { messages } = conversationOf(body);
  const packed = Buffer.from(JSON.stringify(body["input"])).toString("base64");
  const [input_tokens, output_tokens] = [echoInputTokens(conversationOf(body)), echoTokens(packed)];
  const item = { id: `cmp_echo_${id}`, type: "compaction", encrypted_content: packed };
  return jsonAnswer({
    id: `resp_echo_${id}`,
    object: "response.compaction",
    created_at: 0,
    output: [...listOf(messages).filter((message) => objectOf(message)?.["role"] === "user"), item],
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  });
}

/** The built-in provider transcribes nothing: no text, and no tokens. */
function emptyTranscription(): Response {
  const usage = {
    type: "tokens",
    input_tokens: 0,
    input_token_details: { text_tokens: 0, audio_tokens: 0 },
    output_tokens: 0,
    total_tokens: 0,
  };
  return jsonAnswer({ text: "", usage });
}
