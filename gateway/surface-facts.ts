import type { RouteSurface } from "#drizzle/schema/routes.ts";

/** Formats of OpenAI's beside chat. */
export const OPENAI_WIRES = [
  "responses",
  "completions",
  "embeddings",
  "moderations",
  "images",
  "speech",
  "transcriptions",
] as const;

export const WIRE_NAMES = [
  "chat",
  "messages",
  ...OPENAI_WIRES,
  "rerank",
  "gemini",
  "gemini-embeddings",
  "bedrock",
  "cohere",
  "realtime",
  "vendor",
] as const;
/** A wire format: of bodies, streams and errors. */
export type WireName = (typeof WIRE_NAMES)[number];

const TRANSCRIBED = { wire: "transcriptions", routeSurface: null, form: "only", sentOnce: true } as const;
const ON_BEDROCK = { wire: "bedrock", routeSurface: "chat", upstreamPath: "" } as const;
const REALTIME = { path: "/v1/realtime?model={model}", wire: "realtime", upstreamPath: "/realtime" } as const;

/** Model surfaces, formats and routes. `upstreamPath` is relative to the provider's API root for the wire. */
export const SURFACES = {
  "chat.completions": {
    path: "/v1/chat/completions",
    wire: "chat",
    routeSurface: "chat",
    upstreamPath: "/chat/completions",
    counts: "search",
  },
  messages: { path: "/v1/messages", wire: "messages", routeSurface: "chat", upstreamPath: "/v1/messages" },
  "messages.count_tokens": {
    path: "/v1/messages/count_tokens",
    wire: "messages",
    routeSurface: "chat",
    upstreamPath: "/v1/messages/count_tokens",
    unrecorded: true,
    estimated: true,
  },
  responses: {
    path: "/v1/responses",
    wire: "responses",
    routeSurface: "chat",
    upstreamPath: "/responses",
  },
  "responses.input_tokens": {
    path: "/v1/responses/input_tokens",
    wire: "responses",
    routeSurface: "chat",
    upstreamPath: "/responses/input_tokens",
    unrecorded: true,
    estimated: true,
  },
  "responses.compact": {
    path: "/v1/responses/compact",
    wire: "responses",
    routeSurface: "chat",
    upstreamPath: "/responses/compact",
  },
  completions: {
    path: "/v1/completions",
    wire: "completions",
    routeSurface: null,
    upstreamPath: "/completions",
  },
  embeddings: {
    path: "/v1/embeddings",
    wire: "embeddings",
    routeSurface: "embeddings",
    upstreamPath: "/embeddings",
  },
  moderations: {
    path: "/v1/moderations",
    wire: "moderations",
    routeSurface: null,
    upstreamPath: "/moderations",
    free: true,
  },
  "images.generations": {
    path: "/v1/images/generations",
    wire: "images",
    routeSurface: "image_generation",
    fixedRoute: "image_generation",
    upstreamPath: "/images/generations",
    counts: "variant",
    sentOnce: true,
  },
  "images.edits": {
    path: "/v1/images/edits",
    wire: "images",
    routeSurface: null,
    upstreamPath: "/images/edits",
    counts: "variant",
    form: "too",
    sentOnce: true,
  },
  "images.variations": {
    path: "/v1/images/variations",
    wire: "images",
    routeSurface: null,
    upstreamPath: "/images/variations",
    counts: "variant",
    form: "only",
    sentOnce: true,
  },
  "audio.transcriptions": {
    path: "/v1/audio/transcriptions",
    upstreamPath: "/audio/transcriptions",
    ...TRANSCRIBED,
  },
  "audio.translations": {
    path: "/v1/audio/translations",
    upstreamPath: "/audio/translations",
    ...TRANSCRIBED,
  },
  "audio.speech": {
    path: "/v1/audio/speech",
    wire: "speech",
    routeSurface: "tts",
    fixedRoute: "tts",
    upstreamPath: "/audio/speech",
    streamMember: { name: "stream_format", value: "sse" },
    counts: "characters",
    sentOnce: true,
  },
  rerank: {
    path: "/v1/rerank",
    aliases: ["/rerank"],
    wire: "rerank",
    routeSurface: "rerank",
    fixedRoute: "rerank",
    upstreamPath: "/rerank",
    counts: "documents",
  },
  "rerank.v2": {
    path: "/v2/rerank",
    wire: "rerank",
    routeSurface: "rerank",
    fixedRoute: "rerank",
    upstreamPath: "/rerank",
    counts: "documents",
  },
  generate_content: {
    path: "/v1beta/models/{model}:generateContent",
    aliases: ["/v1beta/models/{model}:streamGenerateContent"],
    wire: "gemini",
    routeSurface: "chat",
    upstreamPath: "/models",
    methods: { whole: "generateContent", streamed: "streamGenerateContent" },
  },
  "generate_content.count_tokens": {
    path: "/v1beta/models/{model}:countTokens",
    wire: "gemini",
    routeSurface: "chat",
    upstreamPath: "/models",
    methods: { whole: "countTokens" },
    unrecorded: true,
    estimated: true,
  },
  embed_content: {
    path: "/v1beta/models/{model}:embedContent",
    wire: "gemini-embeddings",
    routeSurface: "embeddings",
    upstreamPath: "/models",
    methods: { whole: "embedContent" },
  },
  "embed_content.batch": {
    path: "/v1beta/models/{model}:batchEmbedContents",
    wire: "gemini-embeddings",
    routeSurface: "embeddings",
    upstreamPath: "/models",
    methods: { whole: "batchEmbedContents" },
  },
  invoke: {
    path: "/model/{model}/invoke",
    aliases: ["/model/{model}/invoke-with-response-stream"],
    ...ON_BEDROCK,
  },
  converse: {
    path: "/model/{model}/converse",
    aliases: ["/model/{model}/converse-stream"],
    ...ON_BEDROCK,
  },
  realtime: { ...REALTIME, routeSurface: null, sentOnce: true },
  // What begins a connection, or adds text to its conversation. Its calls have their targets from the connection.
  "realtime.session": { ...REALTIME, routeSurface: "chat", unrecorded: true },
  pass_through: {
    path: "/providers/{name}/{path}",
    wire: "vendor",
    routeSurface: null,
    upstreamPath: "",
    form: "too",
    sentOnce: true,
  },
} as const satisfies Record<string, SurfaceFacts>;

export type SurfaceFacts = {
  path: string;
  /** Further addresses of the same surface. */
  aliases?: readonly string[];
  wire: WireName;
  /** The surface a route must have to serve it; null: no routes, only concrete models. */
  routeSurface: RouteSurface | null;
  upstreamPath: string;
  /** The route that `auto` resolves to, for surfaces without text to classify. */
  fixedRoute?: string;
  /** The top-level member that requests a stream; default `stream: true`. */
  streamMember?: { name: string; value: unknown };
  /** What only the request says: code points of `input`, entries of `documents`, size and quality of images, or its search. */
  counts?: "characters" | "documents" | "variant" | "search";
  /** Accepts `multipart/form-data`: as well as JSON, or only that. */
  form?: "too" | "only";
  /** Google's: the path ends in the model, a colon and one of these methods. */
  methods?: { whole: string; streamed?: string };
  /** No vendor charges for it. */
  free?: boolean;
  /** Answered by an estimate of the gateway's own where the provider does not have it. */
  estimated?: boolean;
  /** Produces nothing billable, so it leaves no record. */
  unrecorded?: boolean;
  /** Expensive to repeat: after one provider got the request, no other is tried. */
  sentOnce?: boolean;
};
export type SurfaceName = keyof typeof SURFACES;

/** In the table's order. The keys of a literal are all there are. */
export const SURFACE_NAMES = Object.keys(SURFACES) as SurfaceName[];

export const isSurfaceName = (name: string): name is SurfaceName => Object.hasOwn(SURFACES, name);

export const surfaceFacts = (surface: SurfaceName): SurfaceFacts => SURFACES[surface];
