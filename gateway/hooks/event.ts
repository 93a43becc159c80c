import type { ToolStatus } from "#drizzle/schema/tools.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ToolName } from "./tool-name.ts";

/**
 * What a hook tells, without arguments, results and texts. `before` is asked before the tool runs, so that a policy
 * can still deny it; `answer` says in which words.
 */
export type HookEvent =
  | {
      kind: "call";
      /** The agent's own id of the call; null where it gave none. */
      id: string | null;
      /** Of the agent's turn, by which a question for permission without an id finds its call; null elsewhere. */
      turn: string | null;
      name: ToolName;
      /** As the agent wrote it. */
      rawName: string;
      session: SessionId | null;
      client: string | null;
      /** Null: only a denial is worth a row. */
      status: ToolStatus | null;
      before: boolean;
      /** Whether `status` stands against the agent's word that the call ended well. */
      failure: boolean;
      /** RFC 3339, when it was seen to be so. */
      at: string;
      durationMs: number | null;
    }
  | { kind: "session_end"; session: SessionId; at: string };

export type CallEvent = Extract<HookEvent, { kind: "call" }>;

const DURATION_MAX = 2 ** 31 - 1;

/** Milliseconds as they are stored, whole and not negative; null for anything else. */
export function readDuration(value: unknown): number | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  const whole = Math.round(value);
  return whole >= 0 && whole <= DURATION_MAX ? whole : null;
}
