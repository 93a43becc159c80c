import { join } from "node:path";
import { isRecord } from "#shared/json.ts";
import { type Finding, failed, passed, skipped } from "../print/finding.ts";
import type { Additions, Agent, AgentSettings, Connection, Run } from "./agent.ts";
import { codexHooks, runsHook, trustCodexHooks } from "./codex-app-server.ts";
import { KEY_HEADER, SESSION_HEADER, SUBSCRIPTION_LANE } from "./headers.ts";
import { fileText, type Homes } from "./homes.ts";
import { editGroups, hookGroup, REQUEST_TOOLS } from "./json-settings.ts";
import { clientKeyAmong, commandLine, keyCommandOf } from "./key-command.ts";
import { forwarder, KEY_OR_LOGIN, keyCommandAt, REPORT_SECONDS } from "./managed.ts";
import { KEY_VARIABLE, SESSION_VARIABLE } from "./variables.ts";

const directory = ({ home, env }: Homes): string => env("CODEX_HOME") ?? join(home, ".codex");
const configFile = (homes: Homes): string => join(directory(homes), "config.toml");
const hookFile = (homes: Homes): string => join(directory(homes), "hooks.json");
const SYSTEM_FILE = "/etc/codex/config.toml";

export const CODEX = {
  title: "Codex",
  names: ["codex", "@openai/codex"],
  subscription: true,
  sessionVariables: ["CODEX_THREAD_ID"],
  directory,
  run,
  settings,
  lead: (url) =>
    `give config.toml a model_provider with base_url = "${url}/v1", wire_api = "responses" and env_key`,
  hook: {
    path: hookFile,
    edit: editGroups(["PostToolUse"], (command) => [hookGroup(`Bash|${REQUEST_TOOLS}`, command)]),
    afterwards:
      "Codex asks once whether it may run the hook: start Codex and approve it (/hooks). `codex exec` never asks; in CI, add --trust.",
  },
  gateway: { path: configFile, edit: editGateway },
  managed: {
    paths: { darwin: SYSTEM_FILE, linux: SYSTEM_FILE },
    text: (url, { gateway }) => {
      const provider = gateway ? editGateway(null, { url, keyCommand: keyCommandAt(url) }) : null;
      return [provider, hookTables(url)].filter((part) => part).join("\n");
    },
    needs: (_, { gateway }) =>
      `On each machine, ${gateway ? "its user has run `tallygate login`" : KEY_OR_LOGIN}.`,
  },
  agreement: { give, path: configFile, without: (text, homes) => withoutTrust(text, hookFile(homes)), check },
} as const satisfies Agent;

async function configOf(homes: Homes): Promise<Record<string, unknown>> {
  try {
    return parsedToml(await fileText(configFile(homes)));
  } catch {
    return {};
  }
}

function parsedToml(text: string): Record<string, unknown> {
  const settings: unknown = Bun.TOML.parse(text);
  return isRecord(settings) ? settings : {};
}

/** Names that a dotted key of `-c` can have without quotes. */
const BARE = /^[A-Za-z0-9_-]+$/;

/** Tool servers at the gateway that name no session of their own. */
function toolServers({ mcp_servers: servers }: Record<string, unknown>, gatewayUrl: string): string[] {
  const isGateways = (server: unknown) =>
    isRecord(server) &&
    typeof server["url"] === "string" &&
    server["url"].startsWith(`${gatewayUrl}/mcp`) &&
    !(isRecord(server["http_headers"]) && SESSION_HEADER in server["http_headers"]);
  return Object.entries(isRecord(servers) ? servers : {}).flatMap(([name, server]) =>
    BARE.test(name) && isGateways(server) ? [name] : [],
  );
}

async function run({ homes, words, gateway, subscription }: Run): Promise<Additions> {
  if (words === null) return {};
  const config = await configOf(homes);
  const { model_provider: chosen, model_providers: own } = config;
  // A provider of the user's own; built-in providers cannot be changed.
  const ownProvider =
    typeof chosen === "string" && isRecord(own) && Object.hasOwn(own, chosen) ? chosen : null;
  const tools = (gateway ? toolServers(config, gateway.url) : []).flatMap((server) => [
    ...["-c", `mcp_servers.${server}.env_http_headers.${SESSION_HEADER}="${SESSION_VARIABLE}"`],
  ]);
  const name = gateway ? "tallygate" : ownProvider;
  if (name === null) return { args: [...tools, ...words], note: NO_PROVIDER };
  const set = (member: string, value: string) => ["-c", `model_providers.${name}.${member}=${value}`];
  // With its own login, Codex sends that credential, and the key beside it.
  const credential = subscription
    ? [...set("requires_openai_auth", "true"), ...set(`env_http_headers.${KEY_HEADER}`, `"${KEY_VARIABLE}"`)]
    : set("env_key", `"${KEY_VARIABLE}"`);
  const lead = gateway
    ? [
        ...["-c", `model_provider="tallygate"`],
        ...set("name", `"tallygate"`),
        ...set("base_url", JSON.stringify(`${gateway.url}/v1`)),
        ...set("wire_api", `"responses"`),
        ...credential,
      ]
    : [];
  const lane = subscription ? set(`http_headers.${SUBSCRIPTION_LANE[0]}`, `"${SUBSCRIPTION_LANE[1]}"`) : [];
  const label = set(`env_http_headers.${SESSION_HEADER}`, `"${SESSION_VARIABLE}"`);
  return { args: [...lead, ...lane, ...label, ...tools, ...words] };
}

const NO_PROVIDER =
  "Codex has no provider of its own in its settings, so its calls do not carry the session. Run `tallygate login`, or set TALLYGATE_URL and TALLYGATE_KEY.";

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

async function settings(homes: Homes): Promise<AgentSettings> {
  const { model_provider: chosen, model_providers: own, ...top } = await configOf(homes);
  const provider = isRecord(own) && typeof chosen === "string" ? own[chosen] : null;
  const it = isRecord(provider) ? provider : {};
  const headers = isRecord(it["http_headers"]) ? it["http_headers"] : {};
  const variable = textOf(it["env_key"]);
  const keyCommand = keyCommandOf(authOf(it["auth"]));
  const credentials = [
    variable === null ? null : homes.env(variable),
    textOf(it["experimental_bearer_token"]),
    textOf(headers[KEY_HEADER]),
  ];
  return {
    address: textOf(it["base_url"]) ?? textOf(top["openai_base_url"]) ?? homes.env("OPENAI_BASE_URL") ?? null,
    key: clientKeyAmong(credentials, keyCommand),
    keyCommand,
    fixedSession: textOf(headers[SESSION_HEADER]),
    source: configFile(homes),
  };
}

/** The command line of a provider's `auth`. */
function authOf(auth: unknown): string | null {
  if (!isRecord(auth) || typeof auth["command"] !== "string") return null;
  const args = Array.isArray(auth["args"]) ? auth["args"].filter((it) => typeof it === "string") : [];
  return commandLine([auth["command"], ...args]);
}

/** Not the name that `tallygate run` gives its provider: Codex would merge the two. */
const PROVIDER = "tallygate-login";
const CHOICE = `model_provider = "${PROVIDER}"\n`;
const CHOSEN = new RegExp(`^${CHOICE}`, "m");
/** Exactly our lines: Codex itself adds tables to the file, before and after. */
const TABLE = new RegExp(
  `\\n\\[model_providers\\.${PROVIDER}\\]\\nname = .*\\nbase_url = .*\\nwire_api = .*\\nauth = .*\\n`,
);

/** The choice is before all tables, and the provider's table is the last one. */
function editGateway(text: string | null, connection: Connection | null): string | null {
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
    throw new Error(`its model_provider is already ${JSON.stringify(chosen)}`);
  }
  const [command = "", ...args] = connection.keyCommand;
  const table = [
    `[model_providers.${PROVIDER}]`,
    `name = "Tallygate"`,
    `base_url = ${JSON.stringify(`${connection.url}/v1`)}`,
    `wire_api = "responses"`,
    `auth = { command = ${JSON.stringify(command)}, args = ${JSON.stringify(args)} }`,
  ];
  const next = `${CHOICE}${rest}\n${table.join("\n")}\n`;
  // Tables that Codex added after ours stay where they are.
  return Bun.deepEquals(parsedToml(next), parsedToml(present)) ? text : next;
}

/** Tables of config.toml with its hooks. Those of the system's own file are trusted without a question. */
const hookTables = (url: string): string =>
  ["PreToolUse", "PostToolUse", "SessionEnd"]
    .map((event) =>
      [
        `[[hooks.${event}]]`,
        `[[hooks.${event}.hooks]]`,
        `type = "command"`,
        `command = ${JSON.stringify(forwarder(url, "codex"))}`,
        `timeout = ${REPORT_SECONDS}\n`,
      ].join("\n"),
    )
    .join("\n");

async function give({ home }: Homes): Promise<boolean> {
  const hooks = await trustCodexHooks(home);
  return hooks !== null && hooks.length > 0 && hooks.every(runsHook);
}

/** `config.toml` without agreements to hooks of a file that is gone, which Codex cannot be asked to forget. */
export function withoutTrust(text: string | null, file: string): string | null {
  const path = JSON.stringify(file)
    .slice(1, -1)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const agreement = new RegExp(`(?:^|\\n)\\[hooks\\.state\\."${path}:[^"\\n]*"\\]\\n(?:[^[\\n].*\\n?)*`, "g");
  const rest = (text ?? "")
    .replaceAll(agreement, "")
    .replace(/(?:^|\n)\[hooks\.state\]\n(?=\n*(?:$|\[(?!hooks\.state\.)))/, "");
  return rest === "" && rest !== text ? null : rest;
}

async function check(place: string): Promise<Finding> {
  const hooks = await codexHooks(place);
  if (hooks === null || hooks.length === 0) {
    return skipped(
      "Codex has the hook that stamps pull requests.",
      "Whether it is approved could not be checked: start `codex`.",
    );
  }
  if (hooks.every(runsHook))
    return passed("Codex has the hook that stamps pull requests, and it is approved.");
  const changed = hooks.some(({ trustStatus }) => trustStatus === "modified");
  return failed(
    `Codex does not run the hook that stamps pull requests: ${changed ? "it has changed since it was approved" : "it is not approved yet"}.`,
    "Approve it in Codex (/hooks), or run `tallygate install codex --trust`. `codex exec` never asks, and skips the hook.",
  );
}
