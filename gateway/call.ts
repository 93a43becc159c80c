import type { Channel } from "#drizzle/schema/records.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ClientKey, Provider, Route } from "./directory.ts";
import type { GatewayError } from "./errors.ts";
import type { SurfaceName, WireName } from "./surface-facts.ts";

/** A top-level member of a JSON object, as byte offsets into the body: of its key's quote, and of its value. */
export type Member = { keyStart: number; valueStart: number; valueEnd: number };

/**
 * A JSON body as it arrived, and where its top-level members of interest stand. A name that occurs more than once has
 * several entries; the last one counts, as for every JSON reader.
 */
export type JsonBody = { bytes: Uint8Array; members: ReadonlyMap<string, readonly Member[]> };

/** What the client wrote about the call (decision: Labels are dropped, never shortened). */
export type CallLabels = {
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
  onAbort(abort: () => void): void;
  /** As the client declared it. */
  contentLength: number | null;
  /** Why the rest of it was not sent on; null while nothing is wrong. */
  fault(): GatewayError | null;
  /** `model`, where it stood behind the file. */
  trailingModel(): string | null;
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
  passthroughCredential: { header: "authorization" | "x-api-key"; value: string } | null;
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
