import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord } from "#shared/json.ts";
import { keysOf } from "#shared/keys-of.ts";
import type { SessionId } from "#shared/labels.ts";
import { KEY_VARIABLE, SESSION_VARIABLE } from "../../hooks/managed-settings.ts";
import { qwenSettings, type RunSettings } from "./run-settings.ts";

/** Codex's own settings, as far as a run depends on them. */
export type CodexSettings = {
  /** The selected provider of the user's own; built-in providers cannot be changed. */
  provider: string | null;
  /** Tool servers at the gateway that name no session of their own. */
  toolServers: readonly string[];
};

/** A run's settings for an agent. */
export type RunContext = {
  session: SessionId;
  /** The environment that the agent will have. */
  env(name: string): string | undefined;
  /** The gateway's address and a client key; null: the agent is configured already, and only the label is added. */
  gateway: { url: string; key: string } | null;
  /** Whether the caller's own subscription pays, and nothing else may: the key is sent alongside its credential. */
  subscription: boolean;
  codex: CodexSettings;
};

type Additions = {
  env?: Record<string, string>;
  args?: readonly string[];
  /** Variables to set in Claude Code's own settings too, which replace those of its environment. */
  settings?: Record<string, string>;
  /** A file of settings for the run alone. */
  file?: RunSettings;
};

/** With null in place of a file that an agent does not need. */
export type AllAdditions = Required<Omit<Additions, "file">> & { file: RunSettings | null };

type Agent = {
  /** The agent's name, as its maker writes it. */
  title: string;
  /** The program's name, and its package's when a runner such as npx starts it. */
  names: readonly string[];
  /** Whether it can send its own credential beside a client key. */
  subscription?: true;
  /** Its variables mean something to other programs, so only the agent itself gets them, and no shell. */
  alone?: true;
  /** Variables and arguments that point the agent to the gateway and put `x-session-id` on every call. */
  add(run: RunContext): Additions;
};

const HEADER = "x-session-id";
const KEY_HEADER = "x-gateway-key";
/** With it, the gateway refuses what the subscription cannot pay for, instead of paying itself. */
const LANE = ["x-gateway-lane", "subscription"] as const;
/** The line of `CLAUDE_HEADERS` that names a session. */
export const SESSION_LINE = /^\s*x-session-id\s*:\s*(\S+)/im;
export const CLAUDE_HEADERS = "ANTHROPIC_CUSTOM_HEADERS";

const OPENCODE_PLUGIN = pathToFileURL(join(import.meta.dir, "opencode-plugin.ts")).href;

/** Coding agents that can carry a session of ours, and how each is configured. */
const AGENTS = {
  claude: {
    title: "Claude Code",
    names: ["claude", "@anthropic-ai/claude-code"],
    subscription: true,
    add: ({ session, env, gateway, subscription }) => {
      const label = withHeaderLine(env(CLAUDE_HEADERS), HEADER, session);
      const lane = subscription ? withHeaderLine(label, ...LANE) : label;
      const key = gateway && subscription ? withHeaderLine(lane, KEY_HEADER, gateway.key) : lane;
      const hasCredential = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"].some((name) => env(name));
      return {
        settings: { [CLAUDE_HEADERS]: key },
        env: {
          [CLAUDE_HEADERS]: key,
          ...(gateway && !env("ANTHROPIC_BASE_URL") && { ANTHROPIC_BASE_URL: gateway.url }),
          ...(gateway && !subscription && !hasCredential && { ANTHROPIC_AUTH_TOKEN: gateway.key }),
        },
      };
    },
  },
  codex: {
    title: "Codex",
    names: ["codex", "@openai/codex"],
    subscription: true,
    add: ({ gateway, codex, subscription }) => {
      const tools = codex.toolServers.flatMap((server) => [
        ...["-c", `mcp_servers.${server}.env_http_headers.${HEADER}="${SESSION_VARIABLE}"`],
      ]);
      const name = gateway ? "tallygate" : codex.provider;
      if (name === null) return { args: tools };
      const set = (member: string, value: string) => ["-c", `model_providers.${name}.${member}=${value}`];
      // With its own login, Codex sends that credential, and the key beside it.
      const credential = subscription
        ? [
            ...set("requires_openai_auth", "true"),
            ...set(`env_http_headers.${KEY_HEADER}`, `"${KEY_VARIABLE}"`),
          ]
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
      const lane = subscription ? set(`http_headers.${LANE[0]}`, `"${LANE[1]}"`) : [];
      const label = set(`env_http_headers.${HEADER}`, `"${SESSION_VARIABLE}"`);
      return { args: [...lead, ...lane, ...label, ...tools] };
    },
  },
  gemini: {
    title: "Gemini CLI",
    names: ["gemini", "@google/gemini-cli"],
    add: ({ session, env, gateway }) => ({
      env: {
        GEMINI_CLI_CUSTOM_HEADERS: withHeaderItem(env("GEMINI_CLI_CUSTOM_HEADERS"), HEADER, session),
        ...(gateway &&
          !env("GOOGLE_GEMINI_BASE_URL") && {
            GOOGLE_GEMINI_BASE_URL: gateway.url,
            GEMINI_API_KEY: gateway.key,
          }),
      },
    }),
  },
  copilot: {
    title: "Copilot CLI",
    names: ["copilot", "@github/copilot"],
    add: ({ session, env, gateway }) => ({
      env: {
        COPILOT_PROVIDER_HEADERS: withHeaderLine(env("COPILOT_PROVIDER_HEADERS"), HEADER, session),
        ...(gateway &&
          !env("COPILOT_PROVIDER_BASE_URL") && {
            COPILOT_PROVIDER_BASE_URL: `${gateway.url}/v1`,
            COPILOT_PROVIDER_TYPE: "openai",
            COPILOT_PROVIDER_API_KEY: gateway.key,
          }),
      },
    }),
  },
  opencode: {
    title: "opencode",
    names: ["opencode", "opencode-ai"],
    add: ({ env }) => ({
      env: { OPENCODE_CONFIG_CONTENT: withPlugin(env("OPENCODE_CONFIG_CONTENT"), OPENCODE_PLUGIN) },
    }),
  },
  qwen: {
    title: "Qwen Code",
    names: ["qwen", "@qwen-code/qwen-code"],
    alone: true,
    add: ({ session, env, gateway }) => {
      const led = env("OPENAI_BASE_URL") ? null : gateway;
      return {
        file: qwenSettings(env, { headers: { [HEADER]: session }, isLed: led !== null }),
        env: led ? { OPENAI_BASE_URL: `${led.url}/v1`, OPENAI_API_KEY: led.key } : {},
      };
    },
  },
} as const satisfies Record<string, Agent>;

export type AgentName = keyof typeof AGENTS;
export const AGENT_NAMES = keysOf(AGENTS);
export const agentTitle = (name: AgentName): string => AGENTS[name].title;

/** Agents to which a run cannot give a header for their calls. */
const WITHOUT_HEADERS: Readonly<Record<string, readonly string[]>> = { Cline: ["cline"] };

/** The agent that a command line starts, directly or through a package runner, and the index of its own arguments. */
export function agentOf(command: readonly string[]): { name: AgentName; argumentsAt: number } | null {
  const { program, at } = programOf(command);
  const name = AGENT_NAMES.find((agent) => AGENTS[agent].names.some((known) => known === program));
  return name ? { name, argumentsAt: at + 1 } : null;
}

/** The name of the started agent whose calls cannot carry a session of ours, or null. */
export function headerlessAgent(command: readonly string[]): string | null {
  const { program } = programOf(command);
  const found = Object.entries(WITHOUT_HEADERS).find(([, names]) => names.includes(program));
  return found?.[0] ?? null;
}

export const keepsSubscription = (name: AgentName): boolean => "subscription" in AGENTS[name];

function programOf(command: readonly string[]): { program: string; at: number } {
  const runs = /^(npx|bunx|pnpx)$/.test(baseName(command[0] ?? ""));
  const at = runs ? command.findIndex((word, place) => place > 0 && !word.startsWith("-")) : 0;
  const word = (runs ? command[at] : baseName(command[0] ?? "")) ?? "";
  return { program: word.replace(/(?<=.)@[^/@]*$/, ""), at };
}

const baseName = (path: string): string =>
  (path.split(/[\\/]/).at(-1) ?? "").replace(/\.(exe|cmd|bat|ps1)$/i, "");

/**
 * Variables for any command: those of every agent, because a shell or a script may start one. For a known agent, only
 * its own, plus its arguments.
 */
export function additionsFor(name: AgentName | null, run: RunContext): AllAdditions {
  // In a shell, an agent that cannot keep its subscription is not led to the organisation's key instead.
  const unled = { ...run, gateway: null };
  const all = (name ? [name] : AGENT_NAMES.filter((agent) => !("alone" in AGENTS[agent]))).map(
    (agent): Additions => AGENTS[agent].add(run.subscription && !keepsSubscription(agent) ? unled : run),
  );
  return {
    env: Object.assign({ [SESSION_VARIABLE]: run.session }, ...all.map(({ env }) => env)),
    args: name ? (all[0]?.args ?? []) : [],
    settings: name ? (all[0]?.settings ?? {}) : {},
    file: all[0]?.file ?? null,
  };
}

/**
 * Headers as `Name: value` lines; an existing line for the header is replaced, because two values make an invalid id.
 */
function withHeaderLine(present: string | undefined, name: string, value: string): string {
  const others = (present ?? "").split(/\r?\n|\\n/).filter((line) => line.trim() !== "" && !isOf(line, name));
  return [...others, `${name}: ${value}`].join("\n");
}

/** Headers as comma-separated `Name:value`; a comma within a value is kept. */
function withHeaderItem(present: string | undefined, name: string, value: string): string {
  const others = (present ?? "").split(/,(?=\s*[^,:]+:)/).filter((it) => it.trim() !== "" && !isOf(it, name));
  return [...others.map((it) => it.trim()), `${name}:${value}`].join(",");
}

const isOf = (text: string, name: string): boolean => text.split(":")[0]?.trim().toLowerCase() === name;

/** Settings that opencode merges over its files, with the plugin added. Invalid JSON is left for the caller to fix. */
function withPlugin(present: string | undefined, plugin: string): string {
  const settings: unknown = JSON.parse(present || "{}");
  const given = isRecord(settings) ? settings : {};
  const plugins = Array.isArray(given["plugin"]) ? given["plugin"] : [];
  return JSON.stringify({ ...given, plugin: [...plugins.filter((it) => it !== plugin), plugin] });
}
