import type { DocumentDecoration } from "elysia";
import { type SurfaceName, surfaceFacts } from "../surface-facts.ts";

const TURNS = { messages: [{ role: "user", content: "Hello" }] };
const RANKED = { query: "Hello", documents: ["Hello", "Goodbye"] };

const CONTENTS = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const CONTENT = { content: { parts: [{ text: "Hello" }] } };

/** Bodies to try; but for those of concrete models alone, the built-in provider answers them. */
const EXAMPLES: Partial<Record<SurfaceName, object>> = {
  "chat.completions": { model: "echo", ...TURNS },
  messages: { model: "echo", max_tokens: 256, ...TURNS },
  "messages.count_tokens": { model: "echo", ...TURNS },
  responses: { model: "echo", input: "Hello" },
  completions: { model: "echo", prompt: "Hello" },
  embeddings: { model: "echo", input: "Hello" },
  moderations: { model: "omni-moderation-latest", input: "Hello" },
  "images.generations": { prompt: "A lighthouse" },
  "images.edits": { model: "gpt-image-1", prompt: "By night", images: [] },
  "audio.speech": { input: "Hello", voice: "alloy" },
  rerank: RANKED,
  "rerank.v2": RANKED,
  generate_content: CONTENTS,
  "generate_content.count_tokens": CONTENTS,
  embed_content: CONTENT,
  "embed_content.batch": { requests: [CONTENT] },
};

const LABELS = {
  "x-session-id": "Session: 1 to 64 letters, digits, `.` `_` `:` `-`.",
  "x-client": "Client, of up to 32 characters.",
  "x-tags": "Up to 16 tags, separated by commas.",
};

const RESPONSES = {
  "200": { description: "The answer in this surface's format, or a stream of events." },
  "400": { description: "The body is wrong, or the provider's format cannot express one of its fields." },
  "401": { description: "No valid client key." },
  "402": { description: "The key's budget is used up." },
  "403": { description: "The key may not use that route or model, or a guardrail refused the call." },
  "404": { description: "No route and no provider serves that model." },
  "413": { description: "The body is too large." },
  "415": { description: "The content type is not accepted, or the body is compressed." },
  "429": { description: "A limit of the key is reached, or one of the provider's." },
  "502": { description: "The provider could not be reached, or broke off." },
  "503": { description: "The call cannot be recorded at the moment, or its provider is not configured." },
  "504": { description: "The provider did not answer in time." },
};

export type Described = DocumentDecoration & Required<Pick<DocumentDecoration, "responses">>;

/** The documentation of a surface: what all model calls have in common, and what is its own. */
export const modelDocs = (surface: SurfaceName, detail: DocumentDecoration): Described => ({
  ...detail,
  security: [{ clientKey: [] }],
  parameters: Object.entries(LABELS).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  })),
  requestBody: { required: true, content: contentOf(surface) },
  responses: { ...RESPONSES },
});

function contentOf(surface: SurfaceName) {
  const { form } = surfaceFacts(surface);
  const file = surface.startsWith("images.") ? "image" : "file";
  return {
    ...(form !== "only" && jsonBody(EXAMPLES[surface] ?? {})),
    ...(form && formBody({ model: "Before the file, if the form is over 25 MiB.", [file]: null })),
  };
}

/** A JSON object of any members, and one to try. */
export const jsonBody = (example: object) => ({
  "application/json": { schema: { type: "object" as const, additionalProperties: true }, example },
});

/** A form with these fields and their meanings; null for a file. */
export const formBody = (fields: Readonly<Record<string, string | null>>) => ({
  "multipart/form-data": {
    schema: {
      type: "object" as const,
      properties: Object.fromEntries(
        Object.entries(fields).map(([name, description]) => [
          name,
          description === null
            ? { type: "string" as const, format: "binary" }
            : { type: "string" as const, description },
        ]),
      ),
    },
  },
});
