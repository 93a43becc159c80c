/** A refusal that is to look like an answer. */
export type Refusal = {
  /** What the assistant says. */
  text: string;
  /** The call's id. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  createdAt: number;
  streamed: boolean;
  /** Of a chat stream: its client asked for the chunk with the usage. */
  usageAsked: boolean;
};

/** Body of a complete answer, and the header that carries its id. */
export type Written = { body: string; idHeader: string };

/** Events that tell their type twice, as both vendors of typed streams send them. */
export const typedEvents = (events: readonly { type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
