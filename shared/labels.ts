import { isSingleLine } from "./text-length.ts";

/** Longest label of each kind, in characters. A longer one is dropped whole, never shortened (spec, Limits). */
export const LABEL_MAX = { client: 32, session: 64, tag: 64, user: 128 } as const;

/** Distinct tags kept per call, in the order sent. */
export const TAGS_MAX = 16;

export type SessionId = string & { readonly brand: "SessionId" };

const SESSION_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** A session id of letters, digits and `.` `_` `:` `-`, 1 to 64 characters; anything else is no session (spec, Session). */
export const parseSessionId = (text: string | null | undefined): SessionId | null =>
  text && SESSION_ID.test(text) ? (text as SessionId) : null;

/**
 * A trimmed label of 1 to `max` characters without control characters, else null. A lone surrogate is not a
 * character: Postgres cannot store it.
 */
export function parseLabel(text: string | null | undefined, max: number): string | null {
  const trimmed = text?.trim() ?? "";
  return isSingleLine(trimmed, max) ? trimmed : null;
}

/** Longest name of a model, and longest text from a provider that is recorded. */
export const MODEL_MAX = 256;

/** Whether a text can be a model's name: 1 to `MODEL_MAX` characters that Postgres can store, no control characters. */
export const isModelName = (text: string): boolean => isSingleLine(text, MODEL_MAX);
