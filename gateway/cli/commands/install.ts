import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { readPresent } from "#shared/env.ts";
import { forwarder, MANAGED_SETTINGS_PATHS, managedSettings } from "../../hooks/managed-settings.ts";
import { gatewayUrl } from "../client/settings.ts";
import { AGENT_NAMES, type AgentName, headerlessAgent } from "../stamping/agents.ts";
import { runsHook, trustCodexHooks } from "../stamping/codex-hooks.ts";
import { DIRECTORIES, HOOK_FILES, type Homes, type HookFile } from "../stamping/hook-files.ts";
import { print, printNote, URL_OPTION } from "./common.ts";

type Options = { dryRun?: true; remove?: true; trust?: true; managed?: true; required?: true; url?: string };

export const addInstall = (program: Command) =>
  program
    .command("install")
    .description("Give coding agents the hook that stamps pull requests, and show what changed.")
    .addArgument(
      new Argument("[agents...]", "agents to change (default: all that are used here)").argParser(addAgent),
    )
    .option("--remove", "remove the hook")
    .option("--dry-run", "only show what would be changed")
    .addOption(
      new Option("--trust", "agree to Codex's hook too, for machines without a terminal").conflicts([
        "remove",
        "dryRun",
        "managed",
      ]),
    )
    .addOption(
      new Option(
        "--managed",
        "only print Claude Code's managed settings, which report its tool calls to the gateway",
      ).conflicts(["remove", "dryRun"]),
    )
    .option("--required", "with --managed: block tools while the gateway is unreachable")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (agents: AgentName[], options: Options, command: Command) => {
      const fault = faultOf(agents, options);
      if (fault) command.error(`error: ${fault}`);
      process.exitCode = options.managed ? printManaged(options) : await install(agents, options);
    });

function addAgent(word: string, before: readonly AgentName[] = []): AgentName[] {
  const name = AGENT_NAMES.find((it) => it === word);
  if (name) return [...before, name];
  const headerless = headerlessAgent([word]);
  throw new InvalidArgumentError(
    headerless
      ? `${headerless} cannot carry a branch's session, so a stamp would name no call of it.`
      : `Allowed choices are ${AGENT_NAMES.join(", ")}.`,
  );
}

/** A name that would be ignored, or null. */
function faultOf(agents: readonly AgentName[], { managed, required, url }: Options): string | null {
  if (managed) {
    return agents.every((name) => name === "claude") ? null : "option '--managed' is for Claude Code only";
  }
  if (required) return "option '--required' requires '--managed'";
  return url === undefined ? null : "option '--url' requires '--managed'";
}

const HELP = `
The hook runs after each of the agent's tools, and does nothing unless the tool may have created or changed a pull
request. It is added to your own settings of the agent, not to a repository. Installing again changes nothing.

Codex runs a hook only once you have agreed to it, and \`codex exec\` never asks: in CI, \`install codex --trust\` agrees for you.
Qwen Code and Cline get no hook: they cannot carry a branch's session.`;

/** Printed for administrators to distribute; this program does not write it. */
function printManaged({ url, required }: Options): number {
  process.stdout.write(managedSettings(gatewayUrl(url), { required: required ?? false }));
  const places = Object.entries(MANAGED_SETTINGS_PATHS).map(([system, path]) => `  ${system}: ${path}`);
  printNote(`it belongs on every machine, where TALLYGATE_KEY holds a client key, as\n${places.join("\n")}`);
  printNote(`agents whose hooks are commands run instead\n  ${forwarder(gatewayUrl(url), "codex")}`);
  return 0;
}

const HOMES: Homes = { home: homedir(), env: (name) => readPresent([name]).get(name) };

/** Exit status 1: an agent's file could not be changed, or no agent was found. */
async function install(names: readonly AgentName[], options: Options): Promise<number> {
  const used = AGENT_NAMES.filter((name) => existsSync(DIRECTORIES[name](HOMES)));
  const agents = names.length > 0 ? names : used;
  if (agents.length === 0) {
    printNote(`No agent has settings here. Name one of ${AGENT_NAMES.join(", ")}.`);
    return 1;
  }
  const installed = agents.map((name) => installOne(name, options)).every(Boolean);
  const trusted = options.trust && agents.includes("codex") ? await trust() : true;
  return installed && trusted ? 0 : 1;
}

async function trust(): Promise<boolean> {
  const hooks = await trustCodexHooks(homedir());
  if (hooks !== null && hooks.length > 0 && hooks.every(runsHook)) {
    print("codex: trusts the hook.");
    return true;
  }
  printNote(
    "codex: its hook is not trusted: Codex is not on the PATH, or is too old. Start it and agree (/hooks).",
  );
  return false;
}

function installOne(name: AgentName, { dryRun, remove, trust }: Options): boolean {
  const file: HookFile = HOOK_FILES[name];
  const path = file.path(HOMES);
  try {
    const before = existsSync(path) ? readFileSync(path, "utf8") : null;
    const after = file.edit(before, remove ? null : hookCommand());
    if (after === before) {
      print(`${name}: ${path} ${remove ? "has no hook of ours" : "has the hook already"}.`);
      return true;
    }
    if (!dryRun) replace(path, after);
    const what = remove ? "the hook is out of" : "the hook is in";
    print(`${name}: ${dryRun ? "would change" : what} ${path}${after === null ? ", which is gone" : ""}.`);
    if (file.afterwards && !remove && !trust) print(`  ${file.afterwards}`);
    return true;
  } catch (error) {
    printNote(
      `${name}: ${path} was left as it is: ${error instanceof Error ? error.message : "it cannot be changed"}.`,
    );
    return false;
  }
}

/** Writes atomically; a symbolic link stays, and its target is replaced. */
function replace(path: string, text: string | null): void {
  const real = existsSync(path) ? realpathSync(path) : path;
  if (text === null) {
    rmSync(real);
    return;
  }
  const mode = existsSync(real) ? statSync(real).mode & 0o777 : 0o600;
  mkdirSync(dirname(real), { recursive: true });
  const temporary = `${real}.tmp-${process.pid}`;
  writeFileSync(temporary, text, { mode });
  renameSync(temporary, real);
}

/** With full paths, because a hook's PATH may have neither; without the project's own `.env`. */
const hookCommand = (): string =>
  [process.execPath, "--no-env-file", join(import.meta.dir, "../stamp-hook.ts")].map(quoted).join(" ");

const quoted = (word: string): string =>
  /^[A-Za-z0-9_./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
