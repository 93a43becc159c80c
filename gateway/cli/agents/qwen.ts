import { dirname, join } from "node:path";
import { isRecord } from "#shared/json.ts";
import type { Additions, Agent, AgentSettings, Run } from "./agent.ts";
import { SESSION_HEADER } from "./headers.ts";
import { fileText, type Homes } from "./homes.ts";
import { editGroups, hookGroup, parsedJsonc, REQUEST_TOOLS } from "./json-settings.ts";
import { clientKeyAmong } from "./key-command.ts";
import { ledByFunction } from "./shell-profiles.ts";

const ADDRESS = "OPENAI_BASE_URL";
const KEY = "OPENAI_API_KEY";
/** The kind of sign-in with which it takes its address and its key from the environment. */
const SIGN_IN = "openai";

/** Names the file of a machine's defaults, which users' settings replace. */
const DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";
const MACHINE_ELSEWHERE = "/etc/qwen-code/settings.json";
const MACHINE_SETTINGS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/Library/Application Support/QwenCode/settings.json",
  win32: "C:\\ProgramData\\qwen-code\\settings.json",
};

const directory = ({ home, env }: Homes): string => env("QWEN_HOME") ?? join(home, ".qwen");

export const QWEN = {
  title: "Qwen Code",
  names: ["qwen", "@qwen-code/qwen-code"],
  alone: true,
  directory,
  run,
  settings,
  lead: (url) => `set ${ADDRESS}=${url}/v1 and ${KEY} to a client key`,
  hook: {
    path: (homes) => join(directory(homes), "settings.json"),
    edit: editGroups(["PostToolUse"], (command) => [
      hookGroup(`run_shell_command|${REQUEST_TOOLS}`, command),
    ]),
  },
  gateway: {
    afterwards: "Open a new shell, and choose a model: --model NAME, or OPENAI_MODEL.",
    signIn: { type: SIGN_IN, isChosen: false },
  },
} as const satisfies Agent;

/**
 * Qwen Code takes headers for its calls, and its sign-in, from settings alone, and merges those of all its files: a run's are a
 * file of lowest precedence, with the machine's defaults in it.
 */
function run({ session, homes: { env }, gateway }: Run): Additions {
  const led = env(ADDRESS) ? null : gateway;
  const members = {
    model: { generationConfig: { customHeaders: { [SESSION_HEADER]: session } } },
    ...(led && { security: { auth: { selectedType: SIGN_IN } } }),
  };
  const beside =
    env("QWEN_CODE_SYSTEM_SETTINGS_PATH") ?? MACHINE_SETTINGS[process.platform] ?? MACHINE_ELSEWHERE;
  const defaults = env(DEFAULTS) ?? join(dirname(beside), "system-defaults.json");
  return {
    env: led ? { [ADDRESS]: `${led.url}/v1`, [KEY]: led.key } : {},
    file: {
      text: async () => JSON.stringify(merged(parsedJsonc(await fileText(defaults)), members)),
      tell: (path) => ({ env: { [DEFAULTS]: path } }),
    },
  };
}

function merged(below: unknown, above: Record<string, unknown>): Record<string, unknown> {
  const all: Record<string, unknown> = isRecord(below) ? { ...below } : {};
  for (const [name, value] of Object.entries(above)) {
    all[name] = isRecord(value) ? merged(all[name], value) : value;
  }
  return all;
}

async function settings(homes: Homes): Promise<AgentSettings> {
  const { env } = homes;
  const run = env(ADDRESS) ? null : ledByFunction("qwen", homes);
  if (run) return run;
  return { address: env(ADDRESS) ?? null, key: clientKeyAmong([env(KEY)]), source: ADDRESS };
}
