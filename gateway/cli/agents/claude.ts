import { join, resolve } from "node:path";
import { isRecord, parsedJson } from "#shared/json.ts";
import { type Finding, failed, passed } from "../print/finding.ts";
import type { Additions, Agent, AgentSettings, Checkout, Connection, Run } from "./agent.ts";
import { takeFlag } from "./flags.ts";
import { KEY_HEADER, SESSION_HEADER, SUBSCRIPTION_LANE, withHeaderLine } from "./headers.ts";
import { fileText, type Homes } from "./homes.ts";
import {
  changedText,
  editGroups,
  hookGroup,
  REQUEST_TOOLS,
  settingsIn,
  withMember,
} from "./json-settings.ts";
import { clientKeyAmong, commandLine, keyCommandOf } from "./key-command.ts";
import { hooksUrl, REPORT_SECONDS } from "./managed.ts";
import { KEY_VARIABLE, SESSION_VARIABLE } from "./variables.ts";

const ADDRESS = "ANTHROPIC_BASE_URL";
const CREDENTIALS = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"] as const;
const HEADERS = "ANTHROPIC_CUSTOM_HEADERS";
/** The line of `HEADERS` that names a session. */
const SESSION_LINE = /^\s*x-session-id\s*:\s*(\S+)/im;
const KEY_LINE = /^\s*x-gateway-key\s*:\s*(\S+)\s*$/im;

/** The hooks that report tool calls. None carries a prompt; arguments and results are dropped on arrival. */
const REPORTED = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PermissionRequest",
  "PermissionDenied",
  "SessionEnd",
] as const;

const MANAGED_PATHS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/Library/Application Support/ClaudeCode/managed-settings.json",
  linux: "/etc/claude-code/managed-settings.json",
  win32: "C:\\Program Files\\ClaudeCode\\managed-settings.json",
};

const directory = ({ home, env }: Homes): string => env("CLAUDE_CONFIG_DIR") ?? join(home, ".claude");
const userSettings = (homes: Homes): string => join(directory(homes), "settings.json");

export const CLAUDE = {
  title: "Claude Code",
  names: ["claude", "@anthropic-ai/claude-code"],
  subscription: true,
  sessionVariables: ["CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"],
  directory,
  run,
  settings,
  lead: (url) => `set ${ADDRESS}=${url} and ANTHROPIC_AUTH_TOKEN to a client key`,
  hook: {
    path: userSettings,
    // A command can fail after it pushed.
    edit: editGroups(["PostToolUse", "PostToolUseFailure"], (command) =>
      ["Bash", REQUEST_TOOLS].map((matcher) => hookGroup(matcher, command)),
    ),
  },
  gateway: { path: userSettings, edit: editGateway },
  managed: {
    paths: MANAGED_PATHS,
    text: (url, { required }) => managedText(url, required),
    needs: () => `On each machine, ${KEY_VARIABLE} holds a client key.`,
  },
  check,
} as const satisfies Agent;

// Claude Code applies the `env` of its settings files over its own environment, so a variable that is set there
// replaces the one that a wrapper sets. Only `--settings` on its command line replaces it again, and not managed ones.

/** A settings file that sets variables, and those variables. */
type SettingsEnv = {
  path: string;
  managed: boolean;
  env: Readonly<Record<string, string>>;
  keyCommand: unknown;
};

/** The settings for a command line in a directory that set variables; later ones replace earlier ones. */
async function settingsFor(homes: Homes, checkout: string | null, words: readonly string[] = []) {
  const { given } = takeFlag(words, FLAG);
  const managed = MANAGED_PATHS[process.platform] ?? null;
  const names = checkout === null ? [] : ["settings.json", "settings.local.json"];
  const own = names.map((name) => join(checkout ?? "", ".claude", name));
  const sources = [userSettings(homes), ...own, given, managed].filter((path) => path !== null);
  const read: SettingsEnv[] = await Promise.all(
    sources.map(async (path) => {
      const found = await settingsAt(path, checkout ?? homes.home);
      return { path, managed: path === managed, env: envOf(found), keyCommand: found?.["apiKeyHelper"] };
    }),
  );
  return read.filter(({ env }) => Object.keys(env).length > 0);
}

/** Settings from a path, or from JSON given instead of a path; null if they cannot be read. */
async function settingsAt(place: string, from: string): Promise<Record<string, unknown> | null> {
  const found = parsedJson(place.trim().startsWith("{") ? place : await fileText(resolve(from, place)));
  return isRecord(found) ? found : null;
}

function envOf(found: Record<string, unknown> | null): Record<string, string> {
  const env = found?.["env"];
  if (!isRecord(env)) return {};
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}

/** The variables that Claude Code will have: those of its settings over its environment. */
function effectiveEnv(files: readonly SettingsEnv[], { env }: Homes): Homes["env"] {
  const set: Readonly<Record<string, string>> = Object.assign({}, ...files.map((file) => file.env));
  return (name) => (Object.hasOwn(set, name) ? set[name] : env(name));
}

const lastSetting = (files: readonly SettingsEnv[], name: string): SettingsEnv | undefined =>
  files.findLast(({ env }) => Object.hasOwn(env, name));

async function run(it: Run): Promise<Additions> {
  const { homes, words, gateway, subscription } = it;
  const files = await settingsFor(homes, it.directory, words ?? []);
  const replacing = lastSetting(files, HEADERS);
  const env = words === null ? homes.env : effectiveEnv(files, homes);
  const label = withHeaderLine(env(HEADERS), SESSION_HEADER, it.session);
  const lane = subscription ? withHeaderLine(label, ...SUBSCRIPTION_LANE) : label;
  const headers = gateway && subscription ? withHeaderLine(lane, KEY_HEADER, gateway.key) : lane;
  const hasCredential = CREDENTIALS.some((name) => env(name));
  return {
    env: {
      [HEADERS]: headers,
      ...(gateway && !env(ADDRESS) && { [ADDRESS]: gateway.url }),
      ...(gateway && !subscription && !hasCredential && { ANTHROPIC_AUTH_TOKEN: gateway.key }),
    },
    ...(words !== null && {
      args: takeFlag(words, FLAG).others,
      file: {
        text: () => withEnv(words, { [HEADERS]: headers }, it.directory),
        tell: (path: string) => ({ args: [FLAG, path] }),
      },
    }),
    ...(replacing &&
      (words === null || replacing.managed) && {
        note: `${replacing.path} sets ${HEADERS}, which replaces Tallygate's: Claude Code's calls do not carry the session.`,
      }),
  };
}

/** Settings with these variables and those of a `--settings` among the words. @throws Error if these are unreadable. */
async function withEnv(words: readonly string[], env: Record<string, string>, from: string): Promise<string> {
  const { given } = takeFlag(words, FLAG);
  const base = given === null ? {} : await settingsAt(given, from);
  if (base === null) throw new Error("The settings that --settings names cannot be read.");
  return JSON.stringify({ ...base, env: { ...(isRecord(base["env"]) && base["env"]), ...env } });
}

const FLAG = "--settings";

async function settings(homes: Homes, place: Checkout | null): Promise<AgentSettings> {
  const files = await settingsFor(homes, place?.directory ?? null);
  const set = effectiveEnv(files, homes);
  const headers = set(HEADERS) ?? "";
  const keyCommand = keyCommandOf(files.findLast((it) => it.keyCommand !== undefined)?.keyCommand);
  return {
    address: set(ADDRESS) ?? null,
    key: clientKeyAmong([KEY_LINE.exec(headers)?.[1], ...CREDENTIALS.map(set)], keyCommand),
    keyCommand,
    fixedSession: SESSION_LINE.exec(headers)?.[1] ?? null,
    source: lastSetting(files, ADDRESS)?.path ?? ADDRESS,
    sessionSource: lastSetting(files, HEADERS)?.path ?? HEADERS,
  };
}

function editGateway(text: string | null, connection: Connection | null): string | null {
  const present = settingsIn(text);
  const { apiKeyHelper: helper, ...others } = present;
  const env = isRecord(present["env"]) ? present["env"] : {};
  if (keyCommandOf(helper) === null) {
    if (connection === null || env[ADDRESS] === connection.url) return text;
    requireFree(env, helper);
  }
  const { [ADDRESS]: _, ...otherEnv } = env;
  if (connection === null) return changedText(withMember(others, "env", otherEnv), present, text);
  const led = withMember(present, "env", { ...env, [ADDRESS]: connection.url });
  return changedText({ ...led, apiKeyHelper: commandLine(connection.keyCommand) }, present, text);
}

/** @throws Error if the gateway cannot be added to settings that have none of ours. */
function requireFree(env: Record<string, unknown>, helper: unknown): void {
  if (env[ADDRESS] !== undefined) throw new Error(`its ${ADDRESS} is set to another gateway`);
  if (helper !== undefined) throw new Error("it already has an apiKeyHelper");
  const credential = CREDENTIALS.find((name) => env[name] !== undefined);
  if (credential !== undefined) throw new Error(`it already has a credential, ${credential}`);
}

function managedText(url: string, required: boolean): string {
  const variables = [KEY_VARIABLE, SESSION_VARIABLE];
  const hook = {
    type: "http",
    url: hooksUrl(url),
    headers: {
      "x-gateway-key": `$${KEY_VARIABLE}`,
      "x-client": "claude-code",
      "x-session-id": `$${SESSION_VARIABLE}`,
    },
    allowedEnvVars: variables,
    timeout: REPORT_SECONDS,
  };
  const before = required ? { ...hook, onFailure: "block" } : hook;
  const hooks = Object.fromEntries(
    REPORTED.map((event) => [event, [{ hooks: [event === "PreToolUse" ? before : hook] }]]),
  );
  return `${JSON.stringify({ httpHookAllowedEnvVars: variables, hooks }, null, 2)}\n`;
}

/** Whether its own settings replace the headers of a run. */
async function check(homes: Homes, checkout: string): Promise<Finding> {
  const last = lastSetting(await settingsFor(homes, checkout), HEADERS);
  if (!last) return passed("Claude Code's settings replace no headers of `tallygate run`.");
  const session = SESSION_LINE.exec(last.env[HEADERS] ?? "")?.[1];
  if (session !== undefined) {
    return failed(
      `${last.path} gives every call the session ${session}, whatever the branch.`,
      `Take x-session-id out of ${HEADERS} there: \`tallygate run\` sets it.`,
    );
  }
  if (last.managed) {
    return failed(
      `${last.path} sets ${HEADERS}, which \`tallygate run\` cannot replace.`,
      "Calls of Claude Code carry its own session here. Take the variable out, or stamp without `run`.",
    );
  }
  return passed(`Claude Code's own headers (${last.path}) are kept by \`tallygate run\`.`);
}
