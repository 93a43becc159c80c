import { isRecord, parsedJson } from "#shared/json.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";

// An agent starts a hook after every tool, so nothing slow is loaded here: members are read by name, without a schema.

export type StampHookCall = {
  /** The session that the agent itself reports. */
  session: SessionId | null;
  directory: string | null;
  /** Whether the tool's name or command says that it may have changed a pull request. */
  concerns: boolean;
  /** Pull requests on any host whose addresses are in the tool's output, each once. */
  shown: PullRequestAddress[];
  /** How long the tool ran, in milliseconds; null if the agent does not report it. */
  ranMs: number | null;
};

type PullRequestAddress = { host: string; owner: string; repository: string; number: number };

const SHELL_COMMAND =
  /\b(?:gh|hub)(?:\.exe)?["']?\s[\s\S]{0,200}?\bpr\s+(?:create|new|edit|ready|reopen|merge)\b/;
const REST_COMMAND = /\bgh(?:\.exe)?\s+api\b[\s\S]{0,400}\bpulls\b/;
const TOOL_NAME =
  /(?:create|update|edit|merge)_?pull_?request|pull_?request_?(?:create|update)|create_?pr\b/i;

/** The members with a tool's output, and with that of one that failed. */
const OUTPUTS = ["tool_response", "toolResult", "error"];
const ADDRESS = /https?:\/\/([\w.:-]+)\/([\w-]+)\/([\w.-]+)\/pull\/(\d{1,9})\b/g;
/** An output with more of them is a list. */
const SHOWN_MAX = 10;

/** What an agent writes to its hook after a tool, in Copilot CLI's form or the one of all others; null: neither. */
export function readHookInput(text: string): StampHookCall | null {
  const input = membersOf(parsedJson(text));
  const session = input.get("session_id") ?? input.get("sessionId") ?? null;
  if (input.size === 0 || (session !== null && typeof session !== "string")) return null;
  const tool = textOf(input.get("tool_name") ?? input.get("toolName"));
  const command = commandOf(input.get("tool_input") ?? input.get("toolArgs"));
  const ran = input.get("duration_ms");
  return {
    session: parseSessionId(session),
    directory: textOf(input.get("cwd")) || null,
    concerns: TOOL_NAME.test(tool) || SHELL_COMMAND.test(command) || REST_COMMAND.test(command),
    shown: addressesIn(JSON.stringify(OUTPUTS.map((name) => input.get(name) ?? ""))),
    ranMs: typeof ran === "number" && ran >= 0 ? ran : null,
  };
}

function addressesIn(output: string): PullRequestAddress[] {
  const found = new Map<string, PullRequestAddress>();
  for (const [address, host = "", owner = "", repository = "", number] of output.matchAll(ADDRESS)) {
    found.set(address, { host: host.toLowerCase(), owner, repository, number: Number(number) });
  }
  return found.size > SHOWN_MAX ? [] : [...found.values()];
}

/** The shell command, from whichever member the agent's shell tool uses; arguments may be JSON text. */
function commandOf(given: unknown): string {
  const members = membersOf(typeof given === "string" ? parsedJson(given) : given);
  const command = members.get("command") ?? members.get("cmd") ?? members.get("script");
  if (Array.isArray(command)) return command.join(" ");
  return textOf(command) || (members.size === 0 ? textOf(given) : "");
}

const membersOf = (value: unknown): Map<string, unknown> =>
  new Map(isRecord(value) ? Object.entries(value) : []);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
