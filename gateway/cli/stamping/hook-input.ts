import { Type } from "@sinclair/typebox";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { fits, open } from "#shared/schema.ts";

/** What agents tell their hooks after a tool has run: Claude Code, Codex and Gemini CLI use the same names. */
const HookInput = open({
  session_id: Type.Optional(Type.String()),
  sessionId: Type.Optional(Type.String()),
  cwd: Type.Optional(Type.String()),
  tool_name: Type.Optional(Type.String()),
  toolName: Type.Optional(Type.String()),
  tool_input: Type.Optional(Type.Unknown()),
  toolArgs: Type.Optional(Type.Unknown()),
});

export type HookCall = {
  /** The session that the agent sends of itself. */
  session: SessionId | null;
  directory: string | null;
  /** Whether the tool may have made or changed a pull request. */
  concerns: boolean;
};

const SHELL_COMMAND =
  /\b(?:gh|hub)(?:\.exe)?["']?\s[\s\S]{0,200}?\bpr\s+(?:create|new|edit|ready|reopen|merge)\b/;
const REST_COMMAND = /\bgh(?:\.exe)?\s+api\b[\s\S]{0,400}\bpulls\b/;
const TOOL_NAME =
  /(?:create|update|edit|merge)_?pull_?request|pull_?request_?(?:create|update)|create_?pr\b/i;

/** Reads what an agent writes to its hook's standard input; null where it is not JSON of that form. */
export function readHookInput(text: string): HookCall | null {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return null;
  }
  if (!fits(HookInput, input)) return null;
  const tool = input.tool_name ?? input.toolName ?? "";
  const command = commandOf(input.tool_input ?? input.toolArgs);
  return {
    session: parseSessionId(input.session_id ?? input.sessionId),
    directory: input.cwd ?? null,
    concerns: TOOL_NAME.test(tool) || SHELL_COMMAND.test(command) || REST_COMMAND.test(command),
  };
}

/** The shell's command, from the member that the agent's shell tool calls it by; arguments may come as JSON text. */
function commandOf(given: unknown): string {
  if (typeof given === "string") {
    try {
      return commandOf(JSON.parse(given));
    } catch {
      return given;
    }
  }
  if (typeof given !== "object" || given === null) return "";
  const members = new Map(Object.entries(given));
  const command = members.get("command") ?? members.get("cmd") ?? members.get("script");
  return Array.isArray(command) ? command.join(" ") : typeof command === "string" ? command : "";
}
