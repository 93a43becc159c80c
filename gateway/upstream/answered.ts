import { isEventType } from "../http/content-type.ts";
import type { Attempt } from "./attempt.ts";

/** An attempt that a provider answered. */
export type AnsweredAttempt = Extract<Attempt, { kind: "answer" }>;

export const isEventAnswer = ({ headers }: Pick<AnsweredAttempt, "headers">): boolean =>
  isEventType(headers.get("content-type"));

/** Whether the answer is framed. If not, it ends with its connection, and a cut-off answer looks complete. */
export const isFramed = ({ headers }: AnsweredAttempt): boolean =>
  headers.has("content-length") || headers.has("transfer-encoding");

export const isJsonAnswer = ({ headers }: AnsweredAttempt): boolean =>
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");

/** How the answer is compressed, in lower case, because case has no meaning there; null if it is not. */
export function encodingOf({ headers }: Pick<AnsweredAttempt, "headers">): string | null {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  return encoding === "identity" ? null : encoding;
}
