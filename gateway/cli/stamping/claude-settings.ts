import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readPresent } from "#shared/env.ts";
import { isRecord, parsedJson } from "#shared/json.ts";
import { MANAGED_SETTINGS_PATHS } from "../../hooks/managed-settings.ts";
import { DIRECTORIES } from "./hook-files.ts";

// Claude Code applies the `env` of its settings files over its own environment, so a variable that is set there
// replaces the one that a wrapper sets. Only `--settings` on its command line replaces it again, and not managed ones.

/** A settings file that sets variables, and those variables. */
export type SettingsEnv = {
  path: string;
  managed: boolean;
  env: Readonly<Record<string, string>>;
  /** The command that prints its key. */
  keyCommand: unknown;
};

/**
 * Claude Code's settings for a command line in a directory that set variables; later ones replace earlier ones. With a null
 * directory, only the user's and the administrators'.
 */
export async function claudeSettings(
  directory: string | null,
  words: readonly string[] = [],
): Promise<SettingsEnv[]> {
  const own = DIRECTORIES.claude({ home: homedir(), env: (name) => readPresent([name]).get(name) });
  const { given } = takeSettings(words);
  const managed = managedPath();
  const sources = [
    join(own, "settings.json"),
    ...(directory === null
      ? []
      : ["settings.json", "settings.local.json"].map((name) => join(directory, ".claude", name))),
    ...(given === null ? [] : [given]),
    ...(managed === null ? [] : [managed]),
  ];
  const read = await Promise.all(
    sources.map(async (path) => {
      const settings = await settingsAt(path, directory ?? homedir());
      return {
        path,
        managed: path === managed,
        env: envOf(settings),
        keyCommand: settings?.["apiKeyHelper"],
      };
    }),
  );
  return read.filter(({ env }) => Object.keys(env).length > 0);
}

const managedPath = (): string | null =>
  Object.entries(MANAGED_SETTINGS_PATHS).find(([platform]) => platform === process.platform)?.[1] ?? null;

/** Settings from a path, or from JSON given instead of a path; null if they cannot be read. */
async function settingsAt(place: string, directory: string): Promise<Record<string, unknown> | null> {
  const text = place.trim().startsWith("{")
    ? place
    : await Bun.file(resolve(directory, place))
        .text()
        .catch(() => "");
  const settings = parsedJson(text);
  return isRecord(settings) ? settings : null;
}

function envOf(settings: Record<string, unknown> | null): Record<string, string> {
  const env = settings?.["env"];
  if (!isRecord(env)) return {};
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}

/** The variables that Claude Code will have: those of its settings over this process's. */
export function effectiveEnv(files: readonly SettingsEnv[]): (name: string) => string | undefined {
  const set: Readonly<Record<string, string>> = Object.assign({}, ...files.map(({ env }) => env));
  return (name) => (Object.hasOwn(set, name) ? set[name] : readPresent([name]).get(name));
}

/**
 * The arguments of a run with `env` in its settings: those of a `--settings` among the words are kept, because Claude
 * Code reads the last one only. `write` stores the settings, which may carry a key, and gives their path.
 * @throws Error if the settings among the words cannot be read.
 */
export async function withSettings(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { directory, write }: { directory: string; write(text: string): Promise<string> },
): Promise<string[]> {
  const { given, others } = takeSettings(words);
  const base = given === null ? {} : await settingsAt(given, directory);
  if (base === null) throw new Error("The settings that --settings names cannot be read.");
  const present = isRecord(base["env"]) ? base["env"] : {};
  const path = await write(JSON.stringify({ ...base, env: { ...present, ...env } }));
  return ["--settings", path, ...others];
}

const FLAG = "--settings";

function takeSettings(words: readonly string[]): { given: string | null; others: string[] } {
  let given: string | null = null;
  const others: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return { given, others: [...others, ...words.slice(at)] };
    if (word === FLAG) given = words[++at] ?? null;
    else if (word.startsWith(`${FLAG}=`)) given = word.slice(FLAG.length + 1);
    else others.push(word);
  }
  return { given, others };
}
