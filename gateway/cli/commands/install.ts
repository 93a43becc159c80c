import { existsSync } from "node:fs";
import { join } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { isShellFunction } from "../agents/agent.ts";
import { AGENT_NAMES, AGENTS, type AgentName, headerlessAgent } from "../agents/agents.ts";
import { HOMES } from "../agents/homes.ts";
import { commandLine } from "../agents/key-command.ts";
import { readLogin } from "../client/login.ts";
import { gatewayUrl } from "../client/settings.ts";
import { commandOf, isOfNpx } from "../own-program.ts";
import { changeFile, replaceFile, textOf } from "./change-file.ts";
import { print, printNote, URL_OPTION } from "./common.ts";
import { connectShell, disconnectShell } from "./connect-shell.ts";

type Options = {
  dryRun?: true;
  remove?: true;
  trust?: true;
  gateway: boolean;
  profile: boolean;
  managed?: true;
  required?: boolean;
  url?: string;
};

export const addInstall = (program: Command) =>
  program
    .command("install")
    .description(
      "Set coding agents up: the hook that stamps pull requests and, once you are signed in, the gateway.",
    )
    .addArgument(
      new Argument("[agents...]", "agents to change (default: all used on this machine)").argParser(addAgent),
    )
    .option("--remove", "remove the hook and the gateway")
    .option("--no-gateway", "don't change agents' base URLs")
    .option("--no-profile", "print the shell profile's lines instead of writing them")
    .option("--dry-run", "print what would change, and change nothing")
    .addOption(
      new Option("--trust", "also approve Codex's hook, for machines without a terminal").conflicts([
        "remove",
        "dryRun",
        "managed",
      ]),
    )
    .addOption(
      new Option(
        "--managed",
        "print an agent's managed settings for an organisation's machines (default: claude)",
      ).conflicts(["remove", "dryRun"]),
    )
    .option("--required", "with --managed: block tools while the gateway is unreachable")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action(async (agents: AgentName[], options: Options, command: Command) => {
      const fault = faultOf(agents, options);
      if (fault) command.error(`error: ${fault}`);
      process.exitCode = options.managed ? printManaged(agents[0], options) : await install(agents, options);
    });

export const addUninstall = (program: Command) =>
  program
    .command("uninstall")
    .description("Remove the hook and the gateway from coding agents' settings.")
    .addArgument(new Argument("[agents...]", "agents to change (default: all)").argParser(addAgent))
    .option("--dry-run", "print what would change, and change nothing")
    .action(async (agents: AgentName[], { dryRun }: Pick<Options, "dryRun">) => {
      process.exitCode = await install(agents, {
        remove: true,
        gateway: true,
        profile: true,
        ...(dryRun && { dryRun }),
      });
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
    const isOne = agents.length <= 1 && agents.every((name) => AGENTS[name].managed);
    const able = AGENT_NAMES.filter((name) => AGENTS[name].managed);
    if (!isOne) return `option '--managed' is for one of ${able.join(", ")}`;
    return required && agents.some((name) => name !== "claude")
      ? "option '--required' is for Claude Code only"
      : null;
  }
  if (required) return "option '--required' requires '--managed'";
  return url === undefined ? null : "option '--url' requires '--managed'";
}

const HELP = `
The hook runs after each of the agent's tools, and acts only if the tool may have created or changed a pull
request. It is added to your own agent settings, not to a repository. Installing again changes nothing.

After \`tallygate login\`, Claude Code, Codex and opencode also send their calls to the gateway. Their settings then hold its
address and the command \`tallygate key\`, or a plugin, never the key. Settings with another gateway or a credential are
left unchanged, and the exit status is 1. Gemini CLI, Copilot CLI and Qwen Code get a function in the profile of your shell (bash, zsh
or fish), which starts them with \`tallygate run\`; --no-profile prints it instead.
--no-gateway adds only the hook. \`tallygate uninstall\` undoes everything.

Codex runs a hook only once you have agreed to it, and \`codex exec\` never asks: in CI, \`install codex --trust\` agrees for you.
Cline gets no hook: it cannot carry a branch's session.

For an organisation's machines, --managed prints the settings of claude, codex or gemini that report tool calls to the gateway; those of
codex and gemini send their model calls there, too.`;

/** Printed for administrators to distribute; this program does not write it. */
function printManaged(name: AgentName = "claude", { url, required = false, gateway }: Options): number {
  const file = AGENTS[name].managed;
  if (!file) return 1;
  const address = gatewayUrl(url);
  print(file.text(address, { required, gateway }).trimEnd());
  const places = Object.entries(file.paths).map(([system, path]) => `  ${system}: ${path}`);
  printNote(`it belongs on every machine, as\n${places.join("\n")}`);
  printNote(file.needs(address, { required, gateway }));
  return 0;
}

const FROM_NPX =
  "these settings name a program in npm's cache, which npm may clear: run `npm install -g tallygate`, then `tallygate install` again.";

/** Exit status 1: an agent's file could not be changed, or no agent was found. */
async function install(names: readonly AgentName[], options: Options): Promise<number> {
  const used = AGENT_NAMES.filter((name) => existsSync(AGENTS[name].directory(HOMES)));
  const agents = names.length > 0 ? names : used;
  if (agents.length === 0) {
    printNote(`No agent has settings on this machine. Name one of ${AGENT_NAMES.join(", ")}.`);
    return 1;
  }
  const installed = agents.map((name) => installOne(name, options)).every(Boolean);
  const connected: boolean[] = [];
  for (const name of agents) connected.push(await connectOne(name, options));
  if (options.remove && !options.dryRun) for (const name of agents) takeAgreementBack(name);
  if (!options.remove && isOfNpx(import.meta.dir)) printNote(FROM_NPX);
  const trusted = options.trust && agents.includes("codex") ? await trust() : true;
  return installed && connected.every(Boolean) && trusted ? 0 : 1;
}

async function trust(): Promise<boolean> {
  if (await AGENTS.codex.agreement?.give(HOMES)) {
    print("codex: trusts the hook.");
    return true;
  }
  printNote(
    "codex: its hook is not approved: Codex is not on the PATH, or is too old. Start Codex and approve it (/hooks).",
  );
  return false;
}

/** An agreement to the hook, once the file of hooks is gone. */
function takeAgreementBack(name: AgentName): void {
  const { agreement, hook } = AGENTS[name];
  const path = agreement?.path(HOMES) ?? "";
  const before = textOf(path);
  if (!agreement || before === null || existsSync(hook.path(HOMES))) return;
  const after = agreement.without(before, HOMES);
  if (after !== before) replaceFile(path, after);
}

function installOne(name: AgentName, { remove, dryRun, trust }: Options): boolean {
  const file = AGENTS[name].hook;
  return changeFile(name, {
    path: file.path(HOMES),
    edit: (text) => file.edit(text, remove ? null : hookCommand()),
    says: remove ? ["has no hook of ours", "the hook is out of"] : ["has the hook already", "the hook is in"],
    isDry: dryRun ?? false,
    after: remove || trust ? null : file.afterwards,
  });
}

/** The gateway of `tallygate login`; without a login, nothing changes. */
async function connectOne(name: AgentName, { remove, dryRun, gateway, profile }: Options): Promise<boolean> {
  const login = remove ? null : readLogin();
  const isDry = dryRun ?? false;
  if (!gateway || (login === null && !remove)) return true;
  const file = AGENTS[name].gateway;
  if (isShellFunction(file)) {
    const agent = { ...file, name, isDry };
    return login ? await connectShell(agent, { url: login.url, profile }) : disconnectShell(agent);
  }
  const connection = login && {
    url: login.url,
    keyCommand: [...commandOf(join(import.meta.dir, "../tallygate.ts")), "key", "--url", login.url],
  };
  return changeFile(name, {
    path: file.path(HOMES),
    edit: (text) => file.edit(text, connection),
    says: remove
      ? ["names no gateway of ours", "the gateway is out of"]
      : ["names the gateway already", "the gateway is in"],
    isDry,
    after: remove ? null : file.afterwards,
  });
}

/** With full paths, because an agent's PATH may have neither; without the project's own `.env`. */
const hookCommand = (): string => commandLine(commandOf(join(import.meta.dir, "../stamp-hook.ts")));
