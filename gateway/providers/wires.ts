import type { WireName } from "../call.ts";
import type { ErrorType, GatewayError } from "../errors.ts";
import type { Reading, StreamReader } from "../reading.ts";
import type { ProviderFacts } from "./catalog.ts";
import { CHAT_WIRE } from "./chat-wire.ts";
import { EMBEDDINGS_WIRE, MODERATIONS_WIRE, RERANK_WIRE } from "./counted-wires.ts";
import { IMAGES_WIRE } from "./images-wire.ts";
import { MESSAGES_WIRE } from "./messages-wire.ts";
import { RESPONSES_WIRE } from "./responses-wire.ts";
import { SPEECH_WIRE } from "./speech-wire.ts";
import { TRANSCRIPTIONS_WIRE } from "./transcriptions-wire.ts";

/** What an error tells besides its message: the id to quote, and what some vendor's client reads. */
export type ErrorTold = { requestId: string; details: GatewayError["details"] };

/** A wire: how answers tell what they used, and how the gateway's own errors look on it. */
export type Wire = {
  /** What a complete JSON answer tells, from its decoded bytes. Never throws: an unreadable one tells nothing. */
  readAnswer(bytes: Uint8Array, facts: ProviderFacts): Reading;
  /** A reader of one stream. It never throws. */
  openStream(facts: ProviderFacts): StreamReader;
  /**
   * False once the beginning of an event's data rules out that the event holds nothing but usage. What one beginning
   * rules out, no longer one allows again.
   */
  mayBeUsageOnly(data: Uint8Array): boolean;
  /** An error of the gateway's own in this wire's shape (decision: Errors have the shape of the called API). */
  errorBody(type: ErrorType, message: string, told: ErrorTold): string;
  /** Header that carries the provider's id of the call. */
  requestIdHeader: string;
  /** A stream that ends without a last event of its own has ended as it should. */
  endsWithBody?: boolean;
  /** An answer that is no event stream is passed on as it comes, and nobody reads it. */
  opaque?: boolean;
};

export const WIRES = {
  chat: CHAT_WIRE,
  messages: MESSAGES_WIRE,
  responses: RESPONSES_WIRE,
  embeddings: EMBEDDINGS_WIRE,
  moderations: MODERATIONS_WIRE,
  images: IMAGES_WIRE,
  speech: SPEECH_WIRE,
  transcriptions: TRANSCRIPTIONS_WIRE,
  rerank: RERANK_WIRE,
} as const satisfies Record<WireName, Wire>;
