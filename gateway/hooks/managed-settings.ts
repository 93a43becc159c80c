/** The hooks that report tool calls. None carries a prompt; arguments and results are dropped on arrival. */
const EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionRequest",
  "PermissionDenied",
  "SessionEnd",
] as const;

/** Seconds that an agent waits for the gateway before it continues without an answer. */
const TIMEOUT_SECONDS = 5;

/** The environment variable with the client key on agents' machines. */
export const KEY_VARIABLE = "TALLYGATE_KEY";

/** The variable in which `tallygate run` passes the session to an agent; without it, the agent's own session counts. */
export const SESSION_VARIABLE = "GATEWAY_SESSION_ID";

const VARIABLES = [KEY_VARIABLE, SESSION_VARIABLE];

/**
 * A managed-settings.json for Claude Code that sends its hooks to the gateway at `url`. With `required`, tools do not
 * run while the gateway is unreachable; without it, agents continue.
 */
export function managedSettings(url: string, { required = false }: { required?: boolean } = {}): string {
  const hook = {
    type: "http",
    url: hooksUrl(url),
    headers: {
      "x-gateway-key": `$${KEY_VARIABLE}`,
      "x-client": "claude-code",
      "x-session-id": `$${SESSION_VARIABLE}`,
    },
    allowedEnvVars: VARIABLES,
    timeout: TIMEOUT_SECONDS,
  };
  const before = required ? { ...hook, onFailure: "block" } : hook;
  const hooks = Object.fromEntries(
    EVENTS.map((event) => [event, [{ hooks: [event === "PreToolUse" ? before : hook] }]]),
  );
  return `${JSON.stringify({ httpHookAllowedEnvVars: VARIABLES, hooks }, null, 2)}\n`;
}

/** Where Claude Code looks for it, by `process.platform`. */
export const MANAGED_SETTINGS_PATHS = {
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  linux: "/etc/claude-code/managed-settings.json",
  win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
} as const;

/** Tables of Codex's config.toml with its hooks. Those of the system's own file are trusted without a question. */
export const codexHookTables = (url: string): string =>
  ["PreToolUse", "PostToolUse", "SessionEnd"]
    .map((event) =>
      [
        `[[hooks.${event}]]`,
        `[[hooks.${event}.hooks]]`,
        `type = "command"`,
        `command = ${JSON.stringify(forwarder(url, "codex"))}`,
        `timeout = ${TIMEOUT_SECONDS}\n`,
      ].join("\n"),
    )
    .join("\n");

/** The member `hooks` of Gemini CLI's settings.json. */
export function geminiHooks(url: string): Record<string, unknown> {
  const command = forwarder(url, "gemini-cli");
  const hook = { name: "tallygate", type: "command", command, timeout: TIMEOUT_SECONDS * 1000 };
  const events = ["BeforeTool", "AfterTool", "SessionEnd"];
  return Object.fromEntries(events.map((event) => [event, [{ matcher: "*", hooks: [hook] }]]));
}

/**
 * A command for agents with command hooks: it forwards its standard input to the gateway, and the answer to the agent.
 * Without a key in the environment it asks for the one of `tallygate login`. It fails silently, so that an unreachable
 * gateway blocks nobody.
 */
export const forwarder = (url: string, client: string): string =>
  `curl -sf -m ${TIMEOUT_SECONDS - 1} --data-binary @- -H "content-type: application/json" ` +
  `-H "x-gateway-key: \${${KEY_VARIABLE}:-$(tallygate key --url ${baseOf(url)} 2>&-)}" ` +
  `-H "x-client: ${client}" -H "x-session-id: $${SESSION_VARIABLE}" ` +
  `${hooksUrl(url)} || true`;

const baseOf = (url: string) => url.replace(/\/+$/, "");
const hooksUrl = (url: string) => `${baseOf(url)}/hooks/v1/events`;
