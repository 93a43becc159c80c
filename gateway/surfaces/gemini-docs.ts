import { type SurfaceName, surfaceFacts } from "../surface-facts.ts";
import { type Described, modelDocs } from "./model-docs.ts";

const CALL = "`{model}` is a route's name, `auto`, or a concrete model";

const SUMMARIES = {
  generate_content: [
    "Content in Gemini's format",
    `Google's generateContent. ${CALL}; the body is forwarded unchanged, or translated if the route's provider uses another format.`,
  ],
  "generate_content.count_tokens": [
    "Token count in Gemini's format",
    "Google's countTokens. Forwarded to the provider of the route, and not recorded.",
  ],
  embed_content: ["Embedding in Gemini's format", "Google's embedContent."],
  "embed_content.batch": ["Embeddings in Gemini's format", "Google's batchEmbedContents."],
} as const satisfies Partial<Record<SurfaceName, readonly [string, string]>>;

const MODEL = { name: "model", in: "path", required: true, schema: { type: "string" as const } };
const ALT = {
  name: "alt",
  in: "query",
  required: false,
  description: "`sse` for events; otherwise one JSON array is streamed.",
  schema: { type: "string" as const, enum: ["sse", "json"] },
};

const NAMES = Object.keys(SUMMARIES) as (keyof typeof SUMMARIES)[];

/** The documented addresses of Gemini's format: one route serves all of them, so they are described here. */
export const GEMINI_PATHS: Readonly<Record<string, { post: Described }>> = Object.fromEntries(
  NAMES.flatMap((surface) => {
    const { path, aliases = [] } = surfaceFacts(surface);
    return [path, ...aliases].map((address) => [address, { post: docsOf(surface, address) }]);
  }),
);

function docsOf(surface: keyof typeof SUMMARIES, address: string): Described {
  const [summary, description] = SUMMARIES[surface];
  const streams = address.includes(":stream");
  const { parameters = [], ...docs } = modelDocs(surface, {
    summary: streams ? `${summary}, streamed` : summary,
    description,
    tags: ["Model surfaces"],
  });
  const operationId = `gemini${address.slice(address.lastIndexOf(":") + 1)}`;
  return { ...docs, operationId, parameters: [MODEL, ...(streams ? [ALT] : []), ...parameters] };
}
