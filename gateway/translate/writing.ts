import type { Usage } from "#shared/usage.ts";
import type { AnswerOptions } from "./prompt.ts";
import type { ReplyStep } from "./reply.ts";
import type { Answered } from "./responses/references.ts";
import type { Seal } from "./thoughts.ts";

/** Input of an answer's writer, besides the answer. */
export type WriterContext = {
  options: AnswerOptions;
  /** Names the answer and its items in the responses format (responses/references.ts). */
  token: string;
  /** Packs the thoughts of the provider's vendor for a client of another format. */
  seal: Seal;
  /** Seconds since 1970, for formats with a creation time. */
  createdSeconds: number;
  /** The counts that the provider has reported so far, in normal form. */
  usage(): Usage;
  /** Called with a complete answer's items, where later calls may refer to them. */
  keep(output: Answered["output"]): void;
};

/** Writes one stream: the text of the events that a step makes. */
export type StepWriter = (step: ReplyStep) => string;

export const dataEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

export const namedEvent = (data: { type: string; [member: string]: unknown }): string =>
  `event: ${data.type}\n${dataEvent(data)}`;
