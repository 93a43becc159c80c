import type { Channel } from "#drizzle/schema/records.ts";
import type { RouteSurface } from "#drizzle/schema/routes.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ClientKey, Provider, Route } from "./directory.ts";
import type { GatewayError } from "./errors.ts";

export const WIRE_NAMES = [
  "chat",
  "messages",
  "responses",
  "embeddings",
  "moderations",
  "images",
  "speech",
  "transcriptions",
  "rerank",
] as const;
/** The format that bodies, streams and errors are written in. */
export type WireName = (typeof WIRE_NAMES)[number];

/**
 * The model surfaces: what each speaks, and which routes can answer it.
 * `upstreamPath` follows the provider's API root of the surface's own wire.
 */
export const SURFACES = {
  "chat.completions": {
    path: "/v1/chat/completions",
    wire: "chat",
    routeSurface: "chat",
    upstreamPath: "/chat/completions",
  },
  messages: {
    path: "/v1/messages",
    wire: "messages",
    routeSurface: "chat",
    upstreamPath: "/v1/messages",
  },
  "messages.count_tokens": {
    path: "/v1/messages/count_tokens",
    wire: "messages",
    routeSurface: "chat",
    upstreamPath: "/v1/messages/count_tokens",
    unrecorded: true,
  },
  responses: {
    path: "/v1/responses",
    wire: "responses",
    routeSurface: "chat",
    upstreamPath: "/responses",
    laterMember: "background",
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
    sentOnce: true,
  },
  "images.edits": {
    path: "/v1/images/edits",
    wire: "images",
    routeSurface: null,
    upstreamPath: "/images/edits",
    form: "too",
    sentOnce: true,
  },
  "images.variations": {
    path: "/v1/images/variations",
    wire: "images",
    routeSurface: null,
    upstreamPath: "/images/variations",
    form: "only",
    sentOnce: true,
  },
  "audio.transcriptions": {
    path: "/v1/audio/transcriptions",
    wire: "transcriptions",
    routeSurface: null,
    upstreamPath: "/audio/transcriptions",
    form: "only",
    sentOnce: true,
  },
  "audio.translations": {
    path: "/v1/audio/translations",
    wire: "transcriptions",
    routeSurface: null,
    upstreamPath: "/audio/translations",
    form: "only",
    sentOnce: true,
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
} as const satisfies Record<string, SurfaceFacts>;

export type SurfaceFacts = {
  path: string;
  /** Further addresses of the same surface. */
  aliases?: readonly string[];
  wire: WireName;
  /** What a route must be for to answer it; null: no route can be named, only concrete models are called. */
  routeSurface: RouteSurface | null;
  upstreamPath: string;
  /** The route that `auto` means where there is no text to classify. */
  fixedRoute?: string;
  /** The top-level member that asks for a stream; where absent, `stream: true`. */
  streamMember?: { name: string; value: unknown };
  /** The top-level member that asks for an answer to be fetched later: where it would be fetched is not served here. */
  laterMember?: string;
  /** What is counted in the request: code points of `input`, or entries of `documents`. */
  counts?: "characters" | "documents";
  /** Takes `multipart/form-data`, besides JSON or in its place. */
  form?: "too" | "only";
  /** No vendor charges for it. */
  free?: boolean;
  /** Makes nothing that is paid for, so it leaves no record. */
  unrecorded?: boolean;
  /** Dear to make twice: once a provider got the request, no other is asked. */
  sentOnce?: boolean;
};
export type SurfaceName = keyof typeof SURFACES;

export const surfaceFacts = (surface: SurfaceName): SurfaceFacts => SURFACES[surface];

/** A top-level member of a JSON object, as byte offsets into the body: of its key's quote, and of its value. */
export type Member = { keyStart: number; valueStart: number; valueEnd: number };

/**
 * A JSON body as it arrived, and where its top-level members of interest stand. A name that occurs more than once has
 * several entries; the last one counts, as for every JSON reader.
 */
export type JsonBody = { bytes: Uint8Array; members: ReadonlyMap<string, readonly Member[]> };

/** What the client wrote about the call (decision: Labels are dropped, never shortened). */
export type Labels = {
  client: string;
  session: SessionId | null;
  tags: string[];
  userLabel: string | null;
  agentId: string | null;
  parentAgentId: string | null;
};

/** A multipart body: it is sent on as it comes, and nobody holds the whole of it. */
export type Upload = {
  /** The bytes as they arrived, to be taken once; `moved` is called whenever more are asked for. */
  bytes(moved: () => void): ReadableStream<Uint8Array>;
  /** Has `abort` called when the rest of it is not sent on: a provider that has stalled asks for nothing more. */
  whenBroken(abort: () => void): void;
  /** As the client declared it. */
  contentLength: number | null;
  /** Why the rest of it was not sent on; null while nothing is wrong. */
  fault(): GatewayError | null;
  /** `model`, where it stood behind the file. */
  lateModel(): string | null;
  /** Monotonic time of its end; null while it is on its way. */
  completedMs(): number | null;
};

/** What is asked of the headers of a message, with names in lower case. `Headers` have it all. */
export type HeaderView = Pick<Headers, "get" | "has"> & { toJSON(): Record<string, string> };

/** One model call as it arrived: all that the steps of `exchange.ts` decide from. */
export type Call = {
  /** uuidv7, made at admission: the record's id. */
  id: string;
  surface: SurfaceName;
  key: ClientKey;
  /** The other credential that came beside a valid `x-gateway-key` (subscription lane); dropped unless the lane is open. */
  foreignCredential: { header: "authorization" | "x-api-key"; value: string } | null;
  headers: HeaderView;
  /** Of an upload: the text fields before its first file. */
  body: JsonBody;
  upload?: Upload;
  /** What `model` and `route` say, and whether `stream` is true. */
  model: string | null;
  routeMember: string | null;
  streamed: boolean;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
  admittedAt: Date;
  admittedMonotonicMs: number;
};

const ROUTE_SOURCES = ["hint", "model", "classifier", "fixed", "direct", "default"] as const;
export type RouteSource = (typeof ROUTE_SOURCES)[number];

/**
 * A provider, the model to ask it for (null: the client named none, and the provider has its own), and the format to ask in: the surface's own where the provider speaks it, else
 * the one that the call is translated into.
 */
export type Target = { provider: Provider; model: string | null; wire: WireName };

/** Where a call goes. `route` is null for a concrete model that no route pairs with its provider. */
export type Choice = {
  route: Route | null;
  /** What is recorded: the route's name, or `(direct)`. */
  routeName: string;
  source: RouteSource;
  /** Version of the classifier that was asked for the route; null or absent where none was. */
  classifierVersion?: string | null;
  /** First choice first, fallbacks after it. Never empty. */
  targets: readonly [Target, ...Target[]];
  channel: Channel;
};
