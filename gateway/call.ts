import type { Channel, RequestRow } from "#drizzle/schema/records.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ClientKey, Provider, Route } from "./directory.ts";
import type { GatewayError } from "./errors.ts";
import type { SurfaceName, WireName } from "./surface-facts.ts";

/** A top-level member of a JSON object: byte offsets of its key's opening quote and of its value. */
export type Member = { keyStart: number; valueStart: number; valueEnd: number };

/**
 * A JSON body as received, and the offsets of its top-level members. A repeated name has several entries; the last one
 * wins, as in most JSON parsers.
 */
export type JsonBody = { bytes: Uint8Array; members: ReadonlyMap<string, readonly Member[]> };

/** Labels that the client attached to the call (decision: Labels are dropped, never shortened). */
export type CallLabels = {
  client: string;
  session: SessionId | null;
  /** The agent's own session, where another one counts. */
  agentSession: SessionId | null;
  /** Of a sub-agent: the session of the agent that began it. */
  parentSession: SessionId | null;
  tags: string[];
  userLabel: string | null;
  agentId: string | null;
  parentAgentId: string | null;
};

/** A multipart body, streamed through and never buffered whole. */
export type Upload = {
  /** The bytes as received; can be read once. `moved` is called on every pull. */
  bytes(moved: () => void): ReadableStream<Uint8Array>;
  /** Registers `abort` for when the rest is not forwarded: a stalled provider would not pull again to notice. */
  onAbort(abort: () => void): void;
  /** Registers what judges the text fields after the first file; it rejects to break the upload off before them. */
  onLateFields(judge: (fields: readonly (readonly [name: string, text: string])[]) => Promise<void>): void;
  /** As declared by the client. */
  contentLength: number | null;
  /** Why the rest was not forwarded; null while nothing is wrong. */
  fault(): GatewayError | null;
  /** `model`, if it came after the file. */
  trailingModel(): string | null;
  /** Monotonic time at which the body ended; null until then. */
  completedMs(): number | null;
};

/** The part of `Headers` used here; names are in lower case. */
export type HeaderView = Pick<Headers, "get" | "has"> & { toJSON(): Record<string, string> };

/** `take` refuses what exceeds the memory for bodies; `add` counts what is in memory already. */
export type BodyMemory = { take(bytes: number): void; add(bytes: number): void; release(): void };

/** A call's places among the calls in flight. */
export type Places = {
  /** Takes a place at the first target that has one. The error for the client if none has. */
  refusedAt(targets: readonly Target[]): GatewayError | null;
  /** Gives the places back; does nothing the second time. */
  release(): void;
};

/** A vendor's own address, which a call names itself (pass-through). */
export type VendorAddress = {
  method: string;
  provider: Provider;
  /** Below the vendor's host. */
  path: string;
  /** The format of its usage. */
  wire: WireName;
  /** Whether the address is one of streams; absent: the body says it. */
  streams?: boolean;
  /** Ids in the address and the body of things that the vendor keeps. */
  ids: readonly string[];
  /** The request has no body; the call's is then an empty object. */
  empty: boolean;
};

/** A request to a provider that may go over a WebSocket. */
export type SocketSending = {
  target: Target;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signal: AbortSignal;
  /** Called once the provider may get the request: the connection is established, or one was a moment ago. */
  onSent(): void;
};

/** A conversation that ends with a response: JSON values, separated by commas. `isOurs`: no provider knows its id. */
export type Conversation = { items: string; isOurs: boolean };

/** The client's WebSocket, as one of its responses sees it. */
export type CallSocket = {
  /** Where its calls go; absent: each is routed. */
  choice?: Choice;
  /** Whether the target's provider takes it over a WebSocket, too. */
  serves(target: Target): boolean;
  /** The provider began it by itself and bills it, so one that is refused is ended by this, and recorded with its usage. */
  refused?(refusal: GatewayError): void;
  /** Null: the provider takes no WebSocket. */
  send(sending: SocketSending): Promise<Response | null>;
  /** Null: the connection does not know the response. */
  conversation(responseId: string): Conversation | null;
};

/** One model call as received: the input to every step of `exchange.ts`. */
export type Call = {
  /** uuidv7, made at admission; also the record's id. */
  id: string;
  surface: SurfaceName;
  key: ClientKey;
  /** A second credential sent with a valid `x-gateway-key` (subscription lane); dropped unless the lane is open. */
  passthroughCredential: { header: "authorization" | "x-api-key"; value: string } | null;
  headers: HeaderView;
  /** The query of its address, `?` included, as it may go to a provider of the same format; else empty. */
  query: string;
  /** For an upload: the text fields before its first file. */
  body: JsonBody;
  upload?: Upload;
  /** Absent: the surface's own address. */
  vendor?: VendorAddress;
  /** The body's `model` and `route` members, and whether it asks for a stream. */
  model: string | null;
  routeMember: string | null;
  /**
   * Set if the received body referred to earlier answers, whose items have taken the references' place: the answer that
   * it continues, and its own input (responses).
   */
  continues?: { previousId: string | null; input: readonly unknown[] | null };
  /** Responses and containers of a provider's that it refers to; absent: none. */
  refersTo?: readonly string[];
  streamed: boolean;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Closes the connection of a client that reads nothing. */
  closeConnection?(): void;
  /** The memory for the bodies of the call; given back when its record is closed. */
  memory?: BodyMemory;
  /** Its places among the calls in flight. */
  places?: Places;
  /** Absent: it came over HTTP. */
  socket?: CallSocket;
  /** Its record, once it has ended. */
  closed?: { row: RequestRow | null };
  admittedAt: Date;
  admittedMonotonicMs: number;
};

const ROUTE_SOURCES = ["hint", "model", "classifier", "fixed", "direct", "default"] as const;
export type RouteSource = (typeof ROUTE_SOURCES)[number];

/**
 * Where to send a call. `model` is null if the client named none and the provider picks its own; `wire` is the
 * surface's own format if the provider supports it, else the one that the call is translated into.
 */
export type Target = {
  provider: Provider;
  model: string | null;
  wire: WireName;
  /** Share of the calls, relative to the other targets with a weight; absent or null: it shares with none. */
  weight?: number | null;
};

/** A routing decision. `route` is null for a concrete model that no route pairs with its provider. */
export type Choice = {
  route: Route | null;
  /** The recorded name: the route's, or `(direct)`. */
  routeName: string;
  source: RouteSource;
  /** Version of the classifier used; null or absent if none was. */
  classifierVersion?: string | null;
  /** First choice, then fallbacks. */
  targets: readonly [Target, ...Target[]];
  channel: Channel;
};
