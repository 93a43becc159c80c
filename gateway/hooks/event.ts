import type { ToolStatus } from "#drizzle/schema/tools.ts";
import { parseLabel, type SessionId } from "#shared/labels.ts";

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

/** Longest stored name of a tool and of a server; the bound comes from MCP. */
const TOOL_MAX = 128;
const SERVER_MAX = 64;

/** A tool and its server; a server of null is the agent itself. Names that cannot be stored are null. */
export type ToolName = { server: string | null; tool: string | null };

/** How agents name the tools of their MCP servers. */
const OF_A_SERVER = /^mcp__(.+?)__(.+)$/s;

/** The tool gateway names tools `server__tool`; a server's name contains no underscore. */
const THROUGH_THE_GATEWAY = /^([a-z0-9-]{1,24})__(.+)$/s;

/** The tool and server behind an agent's tool name, as registered here. `serverName`, if sent, settles ambiguity. */
export function readToolName(
  name: unknown,
  serverName: unknown,
  isRegistered: (server: string) => boolean,
): ToolName {
  if (typeof name !== "string") return { server: null, tool: null };
  const [, written = "", own = ""] = OF_A_SERVER.exec(name) ?? [];
  if (written === "") return { server: labelOf(serverName, SERVER_MAX), tool: labelOf(name, TOOL_MAX) };
  const [, server = "", tool = ""] = THROUGH_THE_GATEWAY.exec(own) ?? [];
  if (isRegistered(server)) return { server, tool: labelOf(tool, TOOL_MAX) };
  const told = labelOf(serverName, SERVER_MAX);
  return { server: told ?? labelOf(written, SERVER_MAX), tool: labelOf(own, TOOL_MAX) };
}

const labelOf = (value: unknown, max: number): string | null =>
  typeof value === "string" ? parseLabel(value, max) : null;
