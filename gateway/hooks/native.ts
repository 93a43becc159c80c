import type { ToolStatus } from "#drizzle/schema/tools.ts";
import { parseSessionId } from "#shared/labels.ts";
import type { JsonBody } from "../call.ts";
import { OPEN_BRACE } from "../http/json-grammar.ts";
import { lastMember, memberValue } from "../http/scan.ts";
import { readExternalId } from "../stores/tools/tool-calls.ts";
import { type HookEvent, readDuration, readToolName } from "./event.ts";

/** The status that a kind of hook reports; null: none, but policies apply. */
type Meaning = { status: ToolStatus | null; before?: true; failure?: true; client?: string };

/** Hooks that report a call, by event names of Claude Code (and Codex) and Gemini CLI. Others are ignored. */
const EVENTS: Readonly<Record<string, Meaning>> = {
  PreToolUse: { status: "pending", before: true },
  PermissionRequest: { status: null, before: true },
  PermissionDenied: { status: "denied", failure: true },
  PostToolUse: { status: "ok" },
  PostToolUseFailure: { status: "failed", failure: true },
  BeforeTool: { status: "pending", before: true, client: "gemini-cli" },
  AfterTool: { status: "ok", client: "gemini-cli" },
};

/** The event name of a native payload; null for any other body. */
export function eventName(body: JsonBody): string | null {
  const name = memberValue(body, "hook_event_name");
  return typeof name === "string" ? name : null;
}

/** Reads a native payload; null if nothing of it is kept. Prompts, arguments and results are never parsed. */
export function nativeEvent(
  body: JsonBody,
  { at, isRegistered }: { at: string; isRegistered: (server: string) => boolean },
): HookEvent | null {
  const event = eventName(body) ?? "";
  const session = parseSessionId(textMember(body, "session_id"));
  if (event === "SessionEnd") return session && { kind: "session_end", session, at };
  const meaning = Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined;
  if (!meaning) return null;
  const rawName = textMember(body, "tool_name") ?? "";
  return {
    kind: "call",
    id: readExternalId(textMember(body, "tool_use_id")),
    turn: textMember(body, "prompt_id") ?? textMember(body, "turn_id"),
    name: readToolName(rawName, serverOf(body), isRegistered),
    rawName,
    session,
    client: meaning.client ?? (body.members.has("turn_id") ? "codex" : "claude-code"),
    status: statusOf(body, event, meaning),
    before: meaning.before === true,
    failure: meaning.failure === true,
    at,
    durationMs: readDuration(memberValue(body, "duration_ms")),
  };
}

/** An interrupt by the user is not a failure of the tool; Gemini CLI reports failures only in the result. */
function statusOf(body: JsonBody, event: string, { status }: Meaning): ToolStatus | null {
  if (status === "failed" && memberValue(body, "is_interrupt") === true) return "unknown";
  return event === "AfterTool" && resultHasError(body) ? "failed" : status;
}

/** Looks only for the member's name: the result is not parsed. */
function resultHasError({ bytes, members }: JsonBody): boolean {
  const result = members.get("tool_response")?.at(-1);
  if (!result || bytes[result.valueStart] !== OPEN_BRACE) return false;
  const { last } = lastMember(bytes, result.valueStart, "error");
  return last !== null && bytes[last.valueStart] === OPEN_BRACE;
}

function textMember(body: JsonBody, name: string): string | null {
  const value = memberValue(body, name);
  return typeof value === "string" ? value : null;
}

function serverOf(body: JsonBody): unknown {
  const server = memberValue(body, "mcp_server");
  return typeof server === "object" && server !== null && "name" in server ? server.name : null;
}
