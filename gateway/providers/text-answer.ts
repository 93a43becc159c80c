import type { ProviderObject } from "./provider-json.ts";

/** A complete answer in text that the gateway writes itself: the built-in provider's, or a soft denial. */
export type TextAnswer = {
  /** Identifies the answer; each wire puts its vendor's prefix in front. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  createdAt: number;
  /** The text, in the pieces that a stream sends. */
  pieces: readonly string[];
  inputTokens: number;
  outputTokens: number;
  /** The answer ends at its token limit. */
  truncated: boolean;
  streamed: boolean;
  /** Chat streams only: the client requested the usage chunk. */
  includeUsage: boolean;
  /** Responses only: the request whose members the answer repeats. */
  request?: ProviderObject;
};

type StreamEvent = { type: string; [member: string]: unknown };

/** Server-sent events that name their type twice, as vendors of typed streams send them. */
export const typedEvents = (events: readonly StreamEvent[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
