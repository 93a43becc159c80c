import { join } from "node:path";
import { isRecord, parsedJson } from "#shared/json.ts";
import { exportOf, RUN } from "../own-program.ts";
import type { AgentName } from "./agents.ts";
import { DIRECTORIES, type Homes } from "./hook-files.ts";
import { jsonText, withMember } from "./hook-groups.ts";
import type { ShellAgent } from "./shell-profiles.ts";

/** Where an agent is to send its calls: the gateway, and the command that prints the key for it. */
type Connection = { url: string; keyCommand: readonly string[] };

export type GatewayFile = {
  path(homes: Homes): string;
  /**
   * The file's text with the gateway added once or, with null, removed. Everything else is kept; null means no file.
   * @throws Error for a file that cannot be parsed, or that sends the agent's calls elsewhere.
   */
  edit(text: string | null, connection: Connection | null): string | null;
  /** What the user still has to do. */
  afterwards?: string;
};

const OPENCODE_PLUGIN = join(import.meta.dir, "opencode-gateway.ts");

/** Agents whose own settings can name a gateway and a command or a plugin for its key, so that no key is in them. */
export const GATEWAY_FILES: Readonly<Record<Exclude<AgentName, ShellAgent>, GatewayFile>> = {
  claude: { path: (homes) => join(DIRECTORIES.claude(homes), "settings.json"), edit: editClaude },
  codex: { path: (homes) => join(DIRECTORIES.codex(homes), "config.toml"), edit: editCodex },
  opencode: {
    path: (homes) => join(DIRECTORIES.opencode(homes), "plugin", "tallygate-gateway.js"),
    edit: (_, connection) => connection && exportOf("connecting", OPENCODE_PLUGIN),
    afterwards: "Choose a model of the provider Tallygate (/models, or --model tallygate/NAME).",
  },
};

/** A command line that is `tallygate key` for a gateway: the program, wherever it is, and the gateway. */
const KEY_COMMAND = new RegExp(`(?:(\\S+) ${RUN} )?(\\S*\\btallygate(?:\\.ts)?)'? key --url '?([^\\s']+)'?$`);

/** What a command line asks for a gateway's key; null if it is not ours. */
export function keyCommandOf(line: unknown): { program: string; url: string } | null {
  const [, compiled, script, url] = (typeof line === "string" && KEY_COMMAND.exec(line)) || [];
  const program = compiled ?? script;
  return program && url ? { program, url } : null;
}

const ADDRESS = "ANTHROPIC_BASE_URL";
const CREDENTIALS = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];

function editClaude(text: string | null, connection: Connection | null): string | null {
  const settings = text?.trim() ? parsedJson(text) : {};
  if (!isRecord(settings)) throw new Error("the file is no object");
  const { apiKeyHelper: helper, env: set } = settings;
  const env = isRecord(set) ? set : {};
  if (keyCommandOf(helper) === null) {
    if (connection === null || env[ADDRESS] === connection.url) return text;
    const fault = faultOf(env, helper);
    if (fault !== null) throw new Error(fault);
  }
  const { [ADDRESS]: _, ...otherEnv } = env;
  const { apiKeyHelper: __, ...others } = settings;
  const next = connection
    ? {
        ...withMember(settings, "env", { ...env, [ADDRESS]: connection.url }),
        apiKeyHelper: commandLine(connection.keyCommand),
      }
    : withMember(others, "env", otherEnv);
  if (Object.keys(next).length === 0) return null;
  return text !== null && Bun.deepEquals(next, settings) ? text : jsonText(next, text);
}

/** Why the gateway cannot be added to settings of Claude Code that have none of ours. */
function faultOf(env: Record<string, unknown>, helper: unknown): string | null {
  if (env[ADDRESS] !== undefined) return `its ${ADDRESS} names another gateway`;
  if (helper !== undefined) return "it has an apiKeyHelper of its own";
  const credential = CREDENTIALS.find((name) => env[name] !== undefined);
  return credential === undefined ? null : `it has a credential of its own, ${credential}`;
}

/** Not the name that `tallygate run` gives its provider: Codex would merge the two. */
const CODEX_PROVIDER = "tallygate-login";
const CHOICE = `model_provider = "${CODEX_PROVIDER}"\n`;
const CHOSEN = new RegExp(`^${CHOICE}`, "m");
/** Exactly our lines: Codex itself adds tables to the file, before and after. */
const TABLE = new RegExp(
  `\\n\\[model_providers\\.${CODEX_PROVIDER}\\]\\nname = .*\\nbase_url = .*\\nwire_api = .*\\nauth = .*\\n`,
);

/** The choice is before all tables, and the provider's table is the last one. */
function editCodex(text: string | null, connection: Connection | null): string | null {
  const present = text ?? "";
  // The line feed before our table ends a last line that had none: it stays if a line follows.
  const rest = present
    .replace(CHOSEN, "")
    .replace(TABLE, (table, at: number, all: string) =>
      /[^\n]/.test(all[at + table.length] ?? "\n") ? "\n" : "",
    );
  if (connection === null) return rest === "" && rest !== present ? null : text && rest;
  const { model_provider: chosen, model_providers: own } = parsedToml(rest);
  if (chosen !== undefined) {
    const provider = isRecord(own) && typeof chosen === "string" ? own[chosen] : null;
    if (isRecord(provider) && provider["base_url"] === `${connection.url}/v1`) return text;
    throw new Error(`its model_provider is ${JSON.stringify(chosen)} already`);
  }
  const [command = "", ...args] = connection.keyCommand;
  const table = [
    `[model_providers.${CODEX_PROVIDER}]`,
    `name = "Tallygate"`,
    `base_url = ${JSON.stringify(`${connection.url}/v1`)}`,
    `wire_api = "responses"`,
    `auth = { command = ${JSON.stringify(command)}, args = ${JSON.stringify(args)} }`,
  ];
  const next = `${CHOICE}${rest}\n${table.join("\n")}\n`;
  // Tables that Codex added after ours stay where they are.
  return Bun.deepEquals(parsedToml(next), parsedToml(present)) ? text : next;
}

function parsedToml(text: string): Record<string, unknown> {
  const settings: unknown = Bun.TOML.parse(text);
  return isRecord(settings) ? settings : {};
}

/** A shell's command line. */
export const commandLine = (words: readonly string[]): string => words.map(quoted).join(" ");

const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
