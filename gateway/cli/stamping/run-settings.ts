import { dirname, join } from "node:path";
import { isRecord } from "#shared/json.ts";

type Members = Record<string, unknown>;

/** Settings for one run: an agent's file of lowest precedence, which a variable names, with these members over its own. */
export type RunSettings = { variable: string; path: string; members: Members };

type Environment = (name: string) => string | undefined;

/** Where Qwen Code finds the defaults of a machine, which users' settings replace. */
function qwenDefaults(env: Environment): string {
  const beside = env("QWEN_CODE_SYSTEM_SETTINGS_PATH") ?? QWEN_SETTINGS[process.platform] ?? QWEN_ELSEWHERE;
  return env(QWEN_DEFAULTS) ?? join(dirname(beside), "system-defaults.json");
}

const QWEN_DEFAULTS = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";
const QWEN_ELSEWHERE = "/etc/qwen-code/settings.json";
const QWEN_SETTINGS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: "/Library/Application Support/QwenCode/settings.json",
  win32: "C:\\ProgramData\\qwen-code\\settings.json",
};

/** The kind of sign-in with which Qwen Code takes its address and its key from the environment. */
export const QWEN_SIGN_IN = "openai";

/** Qwen Code takes headers for its calls, and its sign-in, from settings alone, and merges those of all its files. */
export const qwenSettings = (
  env: Environment,
  { headers, isLed }: { headers: Record<string, string>; isLed: boolean },
): RunSettings => ({
  variable: QWEN_DEFAULTS,
  path: qwenDefaults(env),
  members: {
    model: { generationConfig: { customHeaders: headers } },
    ...(isLed && { security: { auth: { selectedType: QWEN_SIGN_IN } } }),
  },
});

/** The text of the file for the run. Settings that cannot be read count as none, as for the agent itself. */
export async function runSettingsText({ path, members }: RunSettings): Promise<string> {
  const text = await Bun.file(path)
    .text()
    .catch(() => "");
  return JSON.stringify(merged(parsedSettings(text), members));
}

function parsedSettings(text: string): unknown {
  try {
    return Bun.JSONC.parse(text || "{}");
  } catch {
    return {};
  }
}

function merged(below: unknown, above: Members): Members {
  const all: Members = isRecord(below) ? { ...below } : {};
  for (const [name, value] of Object.entries(above)) {
    all[name] = isRecord(value) ? merged(all[name], value) : value;
  }
  return all;
}
