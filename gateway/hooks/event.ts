import type { ToolStatus } from "#drizzle/schema/tools.ts";
import type { SessionId } from "#shared/labels.ts";
import type { ToolName } from "./tool-name.ts";

/** A hook event without arguments, results and texts. With `before`, the tool has not run, and a policy can deny it. */
export type HookEvent =
  | {
      kind: "call";
      /** The agent's own id of the call; null if it gave none. */
      id: string | null;
      /** The agent's turn, which links a permission request without an id to its call; null elsewhere. */
      turn: string | null;
      name: ToolName;
      /** As the agent sent it. */
      rawName: string;
      session: SessionId | null;
      client: string | null;
      /** Null: only a denial is stored. */
      status: ToolStatus | null;
      before: boolean;
      /** Whether `status` wins over a later report that the call succeeded. */
      failure: boolean;
      /** RFC 3339. */
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
