import type { Channel } from "#drizzle/schema/records.ts";
import type { RouteSurface } from "#drizzle/schema/routes.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ClientKey, Provider, Route } from "./directory.ts";

export const WIRE_NAMES = ["chat", "messages", "responses"] as const;
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
  responses: {
    path: "/v1/responses",
    wire: "responses",
    routeSurface: "chat",
    upstreamPath: "/responses",
  },
} as const satisfies Record<string, SurfaceFacts>;

export type SurfaceFacts = {
  path: string;
  wire: WireName;
  routeSurface: RouteSurface;
  upstreamPath: string;
};
export type SurfaceName = keyof typeof SURFACES;

/** A top-level member of a JSON object, as byte offsets into the body: of its key's quote, and of its value. */
export type Member = { keyStart: number; valueStart: number; valueEnd: number };

/**
 * A JSON body as it arrived, and where its top-level members of interest stand. A name that occurs more than once has
 * several entries; the last one counts, as for every JSON reader.
 */
export type JsonBody = { bytes: Uint8Array; members: ReadonlyMap<string, readonly Member[]> };

/** What the client wrote about the call (DECISIONS.md, labels). */
export type Labels = {
  client: string;
  session: SessionId | null;
  tags: string[];
  userLabel: string | null;
  agentId: string | null;
  parentAgentId: string | null;
};

/** One model call as it arrived: all that the steps of `exchange.ts` decide from. */
export type Call = {
  /** uuidv7, made at admission: the record's id. */
  id: string;
  surface: SurfaceName;
  key: ClientKey;
  /** The other credential that came beside a valid `x-gateway-key` (subscription lane); dropped unless the lane is open. */
  foreignCredential: { header: "authorization" | "x-api-key"; value: string } | null;
  headers: Headers;
  body: JsonBody;
  /** What `model` and `route` say, and whether `stream` is true. */
  model: string | null;
  routeMember: string | null;
  streamed: boolean;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
  admittedAt: Date;
  admittedMonotonicMs: number;
};

export const ROUTE_SOURCES = ["hint", "model", "classifier", "fixed", "direct", "default"] as const;
export type RouteSource = (typeof ROUTE_SOURCES)[number];

/**
 * A provider, the model to ask it for, and the format to ask in: the surface's own where the provider speaks it, else
 * the one that the call is translated into.
 */
export type Target = { provider: Provider; model: string; wire: WireName };

/** Where a call goes. `route` is null for a concrete model that no route pairs with its provider. */
export type Choice = {
  route: Route | null;
  /** What is recorded: the route's name, or `(direct)`. */
  routeName: string;
  source: RouteSource;
  /** First choice first, fallbacks after it. Never empty. */
  targets: readonly [Target, ...Target[]];
  channel: Channel;
};
