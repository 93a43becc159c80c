import type { WireName } from "../surface-facts.ts";
import type { TextAnswer } from "./text-answer.ts";
import { chatText } from "./text-answer-chat.ts";
import { completionsText } from "./text-answer-completions.ts";
import { geminiText } from "./text-answer-gemini.ts";
import { messagesText } from "./text-answer-messages.ts";
import { responsesText } from "./text-answer-responses.ts";

/** The wires on which an assistant answers in text, and how each writes such an answer. */
export const TEXT_WIRES = {
  chat: chatText,
  messages: messagesText,
  responses: responsesText,
  completions: completionsText,
  gemini: geminiText,
} as const satisfies Partial<Record<WireName, (answer: TextAnswer) => string>>;

export type TextWire = keyof typeof TEXT_WIRES;

export const isTextWire = (wire: WireName): wire is TextWire => Object.hasOwn(TEXT_WIRES, wire);
