import { type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { documented, formBody, jsonBody } from "./documented.ts";

/** A row of the table: a surface's documentation. */
type Described = {
  summary: string;
  description: string;
  /** A body to try; but for those of concrete models alone, the built-in provider answers it. Absent: only a form. */
  example?: object;
};

const TURNS = { messages: [{ role: "user", content: "Hello" }] };
const RANKED = { query: "Hello", documents: ["Hello", "Goodbye"] };
const CONTENTS = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const CONTENT = { content: { parts: [{ text: "Hello" }] } };

const NAMED =
  "`model` is a route's name, `auto`, or a concrete model; every other field is forwarded unchanged, or translated if the route's provider uses another format.";
const IN_PATH = "`{model}` is a route's name, `auto`, or a concrete model.";
const FORM_MODEL =
  "Not routed: `model` is a concrete model, and a key with a scope must send it before the file.";
const REALTIME =
  "OpenAI's realtime API over a WebSocket. Not routed: `model` is a concrete model. Each response, and each transcription of its input, is recorded and limited as a call of its own.";
const RERANK =
  "`auto`, or no `model`, uses the route `rerank`. `documents` are counted. A call is priced per call, search unit or token, as the provider bills.";

/** All model surfaces; those of Google's format are served by `gemini.ts`. */
const MODEL_DOCS = {
  "chat.completions": {
    summary: "Chat completion",
    description: `OpenAI's chat completions format. ${NAMED}`,
    example: { model: "echo", ...TURNS },
  },
  messages: {
    summary: "Message",
    description: `Anthropic's messages format. ${NAMED}`,
    example: { model: "echo", max_tokens: 256, ...TURNS },
  },
  "messages.count_tokens": {
    summary: "Token count of a message",
    description:
      "Anthropic's token count. Forwarded to the provider of the route if it counts tokens, else estimated. Not recorded.",
    example: { model: "echo", ...TURNS },
  },
  responses: {
    summary: "Response",
    description: `OpenAI's responses format. ${NAMED}`,
    example: { model: "echo", input: "Hello" },
  },
  "responses.input_tokens": {
    summary: "Token count of a response's input",
    description:
      "OpenAI's token count. Forwarded to the provider of the route if it counts tokens, else estimated. Not recorded.",
    example: { model: "echo", input: "Hello" },
  },
  "responses.compact": {
    summary: "Compaction of a conversation",
    description:
      "OpenAI's compaction. Forwarded, or written by the route's model as a summary that later calls of any format's models understand.",
    example: { model: "echo", input: "Hello" },
  },
  completions: {
    summary: "Completion of a text",
    description:
      "OpenAI's older completions format, plain and streaming. Not routed: `model` is a concrete model of a provider that has this address.",
    example: { model: "echo", prompt: "Hello" },
  },
  embeddings: {
    summary: "Embeddings",
    description:
      "OpenAI's embeddings format. `model` is the name of a route for embeddings or a concrete model; every other field is forwarded unchanged.",
    example: { model: "echo", input: "Hello" },
  },
  moderations: {
    summary: "Moderation",
    description:
      "OpenAI's moderations format. Not routed: `model` is a concrete model; without one, the only provider that could answer is used. Costs nothing.",
    example: { model: "omni-moderation-latest", input: "Hello" },
  },
  "images.generations": {
    summary: "Image generation",
    description:
      "OpenAI's images format, plain and streaming. `auto`, or no `model`, uses the route `image_generation`. Priced per returned image.",
    example: { prompt: "A lighthouse" },
  },
  "images.edits": {
    summary: "Image edit",
    description: `OpenAI's images format, as \`multipart/form-data\` or in JSON. ${FORM_MODEL} Priced per returned image.`,
    example: { model: "gpt-image-1", prompt: "By night", images: [] },
  },
  "images.variations": {
    summary: "Image variation",
    description: `OpenAI's image variations, as \`multipart/form-data\`. ${FORM_MODEL} Priced per returned image.`,
  },
  "audio.transcriptions": {
    summary: "Transcription",
    description: `OpenAI's transcriptions, plain and streaming, as \`multipart/form-data\`. ${FORM_MODEL} Priced by tokens if the provider reports them; the audio's length is never recorded.`,
  },
  "audio.translations": {
    summary: "Translation of speech",
    description:
      "OpenAI's translations of speech into English, as `multipart/form-data`. The rules of transcriptions apply.",
  },
  "audio.speech": {
    summary: "Speech",
    description:
      'OpenAI\'s speech format. `auto`, or no `model`, is the route `tts`. Priced by the characters of `input`; the answer is raw audio, or events with `stream_format: "sse"`.',
    example: { input: "Hello", voice: "alloy" },
  },
  rerank: { summary: "Ranking of documents", description: RERANK, example: RANKED },
  "rerank.v2": {
    summary: "Rerank documents, as in Cohere's second version",
    description: RERANK,
    example: RANKED,
  },
  generate_content: {
    summary: "Content in Gemini's format",
    description:
      "Google's generateContent. `{model}` is a route's name, `auto`, or a concrete model; the body is forwarded unchanged, or translated if the route's provider uses another format.",
    example: CONTENTS,
  },
  "generate_content.count_tokens": {
    summary: "Token count in Gemini's format",
    description: "Google's countTokens. Forwarded to the provider of the route, and not recorded.",
    example: CONTENTS,
  },
  embed_content: {
    summary: "Embedding in Gemini's format",
    description: "Google's embedContent.",
    example: CONTENT,
  },
  "embed_content.batch": {
    summary: "Embeddings in Gemini's format",
    description: "Google's batchEmbedContents.",
    example: { requests: [CONTENT] },
  },
  invoke: {
    summary: "Bedrock's invoke",
    description: `For Bedrock's SDKs with a client key as the API key. ${IN_PATH} Anthropic's body reaches any provider; other vendors' bodies pass unchanged to models on Bedrock.`,
    example: { anthropic_version: "bedrock-2023-05-31", max_tokens: 256, ...TURNS },
  },
  converse: {
    summary: "Bedrock's converse",
    description: `For Bedrock's SDKs with a client key as the API key. ${IN_PATH} The body passes unchanged to models on Bedrock that are not Anthropic's, and is translated for all others.`,
    example: { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
  },
  realtime: { summary: "Realtime", description: REALTIME },
  "realtime.session": { summary: "Realtime session", description: REALTIME },
  pass_through: {
    summary: "A vendor's own address",
    description:
      "Passed on unchanged with any method, as far as the provider's `pass_through` opens it and the key's scope lists the provider. Usage is read where its form is known; else the record is unpriced.",
    example: {},
  },
} as const satisfies Record<SurfaceName, Described>;

const LABELS = {
  "x-session-id": "Session: 1 to 64 letters, digits, `.` `_` `:` `-`.",
  "x-client": "Client, of up to 32 characters.",
  "x-tags": "Up to 16 tags, separated by commas.",
};

const ANSWERS = {
  200: "The answer in this surface's format, or a stream of events.",
  400: "The body is wrong, or the provider's format cannot express one of its fields.",
  401: "No valid client key.",
  402: "The key's budget is used up.",
  403: "The key may not use that route or model, or a guardrail refused the call.",
  404: "No route and no provider serves that model.",
  413: "The body is too large.",
  415: "The content type is not accepted, or the body is compressed.",
  429: "A limit of the key is reached, or one of the provider's.",
  502: "The provider could not be reached, or its answer ended early.",
  503: "The call cannot be recorded at the moment, or its provider is not configured.",
  504: "The provider did not answer in time.",
};

/** The documentation of a surface: its own part, and the part shared by all model calls. */
export const modelDocs = (surface: SurfaceName) => {
  const { summary, description, example = {} }: Described = MODEL_DOCS[surface];
  return documented(summary, {
    tag: "Model surfaces",
    description,
    parameters: Object.entries(LABELS).map(([name, meaning]) => ({
      name,
      in: "header",
      required: false,
      description: meaning,
      schema: { type: "string" as const },
    })),
    body: contentOf(surface, example),
    answers: ANSWERS,
  });
};

function contentOf(surface: SurfaceName, example: object) {
  const { form } = surfaceFacts(surface);
  const file = surface.startsWith("images.") ? "image" : "file";
  return {
    ...(form !== "only" && jsonBody(example)),
    ...(form && formBody({ model: "Before the file, if the key has a scope.", [file]: null })),
  };
}
