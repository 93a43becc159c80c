import type { Attempt } from "./attempt.ts";

/** An attempt that a provider answered. */
export type AnsweredAttempt = Extract<Attempt, { kind: "answer" }>;

export const isEventAnswer = ({ headers }: AnsweredAttempt): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") ?? false;

/** Whether the answer is framed. If not, it ends with its connection, and a cut-off answer looks complete. */
export const isFramed = ({ headers }: AnsweredAttempt): boolean =>
  headers.has("content-length") || headers.has("transfer-encoding");

export const isJsonAnswer = ({ headers }: AnsweredAttempt): boolean =>
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get("content-type") ?? "");

/** How the answer is compressed; null if it is not. */
export function encodingOf({ headers }: AnsweredAttempt): string | null {
  const encoding = headers.get("content-encoding");
  return encoding === "identity" ? null : encoding;
}
