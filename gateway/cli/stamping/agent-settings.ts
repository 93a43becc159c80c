import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readPresent } from "#shared/env.ts";
import { isRecord } from "#shared/json.ts";
import { readLogin } from "../client/login.ts";
import { type AgentName, CLAUDE_HEADERS, SESSION_LINE } from "./agents.ts";
import { claudeSettings, effectiveEnv } from "./claude-settings.ts";
import { codexConfig } from "./codex-settings.ts";
import { commandLine, GATEWAY_FILES, keyCommandOf } from "./gateway-files.ts";
import type { Git } from "./git.ts";
import { DIRECTORIES } from "./hook-files.ts";
import { OPENCODE_PROVIDER } from "./opencode-gateway.ts";
import { profileBlocks, type ShellAgent } from "./shell-profiles.ts";

type KeyCommand = NonNullable<ReturnType<typeof keyCommandOf>>;

/** Where an agent's own settings, without `tallygate run`, send its calls. */
export type AgentSettings = {
  /** Null: to its vendor. */
  address: string | null;
  /** The credential sent there, if it can be read. */
  key: string | null;
  /** Our command that it asks for its key, and the gateway that the key is for. */
  keyCommand: KeyCommand | null;
  /** A session that every call gets, whatever the branch. */
  fixedSession: string | null;
  /** What sets the address: a file, or a variable. */
  source: string;
  sessionSource: string;
};

const env = (name: string): string | undefined => readPresent([name]).get(name);
const HOMES = { home: homedir(), env };

/** A checkout, whose own settings count too. */
export type Checkout = { directory: string; git: Git };

/**
 * Reads each agent's own settings: those in force in a checkout or, with null, only its user's. A checkout may be anybody's:
 * an address from it and a key of the user's belong together only for the agent that uses both.
 */
export const READERS: Readonly<Record<AgentName, (place: Checkout | null) => Promise<AgentSettings>>> = {
  async claude(place) {
    const files = await claudeSettings(place?.directory ?? null);
    const set = effectiveEnv(files);
    const file = files.findLast((it) => Object.hasOwn(it.env, "ANTHROPIC_BASE_URL"));
    const headers = set(CLAUDE_HEADERS) ?? "";
    const keyCommand = keyCommandOf(files.findLast((it) => it.keyCommand !== undefined)?.keyCommand);
    const credentials = [KEY_LINE.exec(headers)?.[1], set("ANTHROPIC_AUTH_TOKEN"), set("ANTHROPIC_API_KEY")];
    return {
      address: set("ANTHROPIC_BASE_URL") ?? null,
      key: credentials.find(isClientKey) ?? keptKey(keyCommand),
      keyCommand,
      fixedSession: SESSION_LINE.exec(headers)?.[1] ?? null,
      source: file?.path ?? "ANTHROPIC_BASE_URL",
      sessionSource: files.findLast((it) => Object.hasOwn(it.env, CLAUDE_HEADERS))?.path ?? CLAUDE_HEADERS,
    };
  },
  async codex() {
    const file = join(DIRECTORIES.codex(HOMES), "config.toml");
    const { model_provider: chosen, model_providers: own, ...top } = await codexConfig();
    const providers = isRecord(own) ? own : {};
    const provider = typeof chosen === "string" ? providers[chosen] : null;
    const it = isRecord(provider) ? provider : {};
    const headers = isRecord(it["http_headers"]) ? it["http_headers"] : {};
    const variable = textOf(it["env_key"]);
    const keyCommand = keyCommandOf(authOf(it["auth"]));
    const credentials = [
      variable === null ? undefined : env(variable),
      textOf(it["experimental_bearer_token"]),
      textOf(headers["x-gateway-key"]),
    ];
    return {
      address: textOf(it["base_url"]) ?? textOf(top["openai_base_url"]) ?? env("OPENAI_BASE_URL") ?? null,
      key: credentials.find(isClientKey) ?? keptKey(keyCommand),
      keyCommand,
      fixedSession: textOf(headers["x-session-id"]),
      source: file,
      sessionSource: file,
    };
  },
  async gemini() {
    const file = join(DIRECTORIES.gemini(HOMES), ".env");
    const text = await textAt(file);
    const inFile = (name: string) =>
      new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*["']?([^"'\\s#]+)`, "m").exec(text)?.[1];
    const set = (name: string) => env(name) ?? inFile(name);
    const run = set("GOOGLE_GEMINI_BASE_URL") ? null : throughRun("gemini");
    if (run) return run;
    return {
      address: set("GOOGLE_GEMINI_BASE_URL") ?? null,
      key: [set("GEMINI_API_KEY")].find(isClientKey) ?? null,
      keyCommand: null,
      fixedSession: sessionAmong(set("GEMINI_CLI_CUSTOM_HEADERS")),
      source: env("GOOGLE_GEMINI_BASE_URL") ? "GOOGLE_GEMINI_BASE_URL" : file,
      sessionSource: "GEMINI_CLI_CUSTOM_HEADERS",
    };
  },
  async copilot() {
    const run = env("COPILOT_PROVIDER_BASE_URL") ? null : throughRun("copilot");
    if (run) return run;
    return {
      address: env("COPILOT_PROVIDER_BASE_URL") ?? null,
      key: [env("COPILOT_PROVIDER_API_KEY")].find(isClientKey) ?? null,
      keyCommand: null,
      fixedSession: sessionAmong(env("COPILOT_PROVIDER_HEADERS")),
      source: "COPILOT_PROVIDER_BASE_URL",
      sessionSource: "COPILOT_PROVIDER_HEADERS",
    };
  },
  async qwen() {
    const run = env("OPENAI_BASE_URL") ? null : throughRun("qwen");
    if (run) return run;
    return {
      address: env("OPENAI_BASE_URL") ?? null,
      key: [env("OPENAI_API_KEY")].find(isClientKey) ?? null,
      keyCommand: null,
      fixedSession: null,
      source: "OPENAI_BASE_URL",
      sessionSource: "OPENAI_BASE_URL",
    };
  },
  async opencode(place) {
    const file = join(DIRECTORIES.opencode(HOMES), "opencode.json");
    const config = await opencodeConfig(place);
    const [chosen = ""] = (textOf(config["model"]) ?? "").split("/", 1);
    const all = isRecord(config["provider"]) ? config["provider"] : {};
    // Without a chosen model it is the user's choice at each start: the first that names an address.
    const names = chosen === "" ? Object.keys(all) : [chosen];
    const found = names
      .map((name) => [name, optionsOf(all[name])] as const)
      .find(([, it]) => it["baseURL"] !== undefined);
    const [name, options] = found ?? [chosen, {}];
    const plugin = GATEWAY_FILES.opencode.path(HOMES);
    const isOurs = chosen === OPENCODE_PROVIDER || (chosen === "" && found === undefined);
    const login = isOurs && existsSync(plugin) ? readLogin() : null;
    if (login !== null && found === undefined) {
      return {
        ...{ address: login.url, key: login.key, keyCommand: null },
        ...{ fixedSession: null, source: plugin, sessionSource: plugin },
      };
    }
    const headers = isRecord(options["headers"]) ? options["headers"] : {};
    const key =
      (await substituted(textOf(options["apiKey"]), place?.directory ?? homedir())) ??
      (await opencodeLogin(name));
    return {
      address: textOf(options["baseURL"]),
      key: [key].find(isClientKey) ?? null,
      keyCommand: null,
      fixedSession: sessionAmong(
        Object.entries(headers)
          .map((header) => header.join(":"))
          .join("\n"),
      ),
      source: file,
      sessionSource: file,
    };
  },
};

const CLIENT_KEY = /^tg_[0-9A-Za-z]{43}$/;
const KEY_LINE = /^\s*x-gateway-key\s*:\s*(\S+)\s*$/im;
const isClientKey = (text: string | null | undefined): text is string => CLIENT_KEY.test(text ?? "");
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const sessionAmong = (headers: string | undefined): string | null =>
  /(?:^|[\n,])\s*x-session-id\s*:\s*([^\s,]+)/i.exec(headers ?? "")?.[1] ?? null;
const textAt = (path: string): Promise<string> =>
  Bun.file(path)
    .text()
    .catch(() => "");

/** Where the shell's function leads an agent: `tallygate run` takes address, key and session from the login and the branch. */
function throughRun(name: ShellAgent): AgentSettings | null {
  const [block] = profileBlocks(name, HOMES);
  const login = block ? readLogin() : null;
  if (!block || login === null) return null;
  return {
    address: login.url,
    key: login.key,
    keyCommand: block.program === null ? null : { program: block.program, url: login.url },
    fixedSession: null,
    source: block.path,
    sessionSource: block.path,
  };
}

/** The key that our command prints; it is not run, because a checkout's settings may name another one. */
function keptKey(command: KeyCommand | null): string | null {
  const login = command && readLogin();
  return login?.url === command?.url ? (login?.key ?? null) : null;
}

/** The command line of a Codex provider's `auth`. */
function authOf(auth: unknown): string | null {
  if (!isRecord(auth) || typeof auth["command"] !== "string") return null;
  const args = Array.isArray(auth["args"]) ? auth["args"].filter((it) => typeof it === "string") : [];
  return commandLine([auth["command"], ...args]);
}

const optionsOf = (provider: unknown): Record<string, unknown> =>
  isRecord(provider) && isRecord(provider["options"]) ? provider["options"] : {};

/** opencode's settings, of which later files replace members of earlier ones. */
async function opencodeConfig(place: Checkout | null): Promise<Record<string, unknown>> {
  const root = place && ((await place.git("rev-parse", "--show-toplevel")) ?? place.directory);
  const given = env("OPENCODE_CONFIG");
  const directories = [DIRECTORIES.opencode(HOMES), ...(place && root ? [root, place.directory] : [])];
  const paths = directories.flatMap((it) =>
    ["opencode.json", "opencode.jsonc"].map((name) => join(it, name)),
  );
  const texts = await Promise.all([...paths, ...(given ? [resolve(given)] : [])].map(textAt));
  const all = [...texts, env("OPENCODE_CONFIG_CONTENT") ?? ""].map(parsedJsonc);
  const providers = all.map(({ provider }) => (isRecord(provider) ? provider : {}));
  return { ...Object.assign({}, ...all), provider: Object.assign({}, ...providers) };
}

function parsedJsonc(text: string): Record<string, unknown> {
  try {
    const value: unknown = text.trim() ? Bun.JSONC.parse(text) : {};
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** `{env:NAME}` and `{file:path}` in opencode's settings. */
async function substituted(text: string | null, directory: string): Promise<string | null> {
  const [, kind, name = ""] = /^\{(env|file):([^}]+)\}$/.exec(text ?? "") ?? [];
  if (kind === "env") return env(name) ?? null;
  if (kind === "file") return (await textAt(resolve(directory, name.replace(/^~/, homedir())))).trim();
  return text;
}

/** The key that `opencode auth login` keeps for a provider. */
async function opencodeLogin(provider: string): Promise<string | null> {
  const data = env("XDG_DATA_HOME") ?? join(homedir(), ".local/share");
  const login = parsedJsonc(await textAt(join(data, "opencode/auth.json")))[provider];
  return isRecord(login) ? textOf(login["key"]) : null;
}
