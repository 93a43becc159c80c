import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { inheritedEnv, readPresent } from "#shared/env.ts";
import type { SessionId } from "#shared/labels.ts";
import { KEY_VARIABLE } from "../../hooks/managed-settings.ts";
import { keyState } from "../client/key-state.ts";
import { agentGateway, loginFor } from "../client/settings.ts";
import { exportVariables } from "../client/workflow-file.ts";
import {
  type AgentName,
  type AllAdditions,
  additionsFor,
  agentOf,
  CLAUDE_HEADERS,
  headerlessAgent,
  keepsSubscription,
  type RunContext,
} from "../stamping/agents.ts";
import { claudeSettings, effectiveEnv, type SettingsEnv, withSettings } from "../stamping/claude-settings.ts";
import { codexSettings, NO_CODEX } from "../stamping/codex-settings.ts";
import { gitIn } from "../stamping/git.ts";
import { openGithub } from "../stamping/github.ts";
import { runSettingsText } from "../stamping/run-settings.ts";
import { stampPullRequest } from "../stamping/stamp.ts";
import { keepTask, openTask, type Task } from "../stamping/task.ts";
import { directoryOf, printNote } from "./common.ts";
import { parseSession } from "./session.ts";

type Options = { session?: SessionId; subscription?: true; stamp?: true; quiet?: true; export?: string };

/** Only the gateway's own processes need these; no agent may see them. */
const OURS = { ADMIN_KEY: null, MASTER_KEY: null };
const NOT_FOUND = 127;

export const addRun = (program: Command) =>
  program
    .command("run")
    .description("Run a coding agent so that all its calls carry the branch's session.")
    .argument("[command...]", "the agent's own command line, after --")
    .option("--session <id>", "this session instead of the branch's", parseSession)
    .option("--subscription", "the agent's own subscription pays, and nothing else; Claude Code and Codex")
    .option("--stamp", "stamp the branch's pull request when the agent has ended, if there is one")
    .option("-q, --quiet", "do not say which session it is")
    .addOption(
      new Option(
        "--export <file>",
        "run nothing; append the variables to this file, as GITHUB_ENV has them",
      ).conflicts(["stamp"]),
    )
    .addHelpText("after", HELP)
    .action(async (words: string[], options: Options, command: Command) => {
      if ((words.length === 0) !== (options.export !== undefined))
        command.error("error: give either a command after -- or --export");
      process.exitCode = await run(directoryOf(command), words, options);
    });

const HELP = `
Claude Code, Codex, Gemini CLI, Copilot CLI, opencode and Qwen Code are configured in their own ways. For any other command, such
as a shell, the variables of all of them but Qwen Code's are set, because those would lead other programs to the gateway. With \`tallygate login\`, or with TALLYGATE_URL and TALLYGATE_KEY, the agent is
pointed at that gateway, unless it is configured for another one. Without, only the session is added.

Cline cannot carry the session: its calls are recorded, but count for no pull request.

  tallygate run -- claude
  tallygate run -- codex exec "fix the build"
  tallygate run -- npx @google/gemini-cli
  tallygate run --export "$GITHUB_ENV"`;

/** Runs the command to its end and returns its exit status. */
async function run(directory: string, words: readonly string[], options: Options): Promise<number> {
  const git = gitIn(directory);
  const requested = options.session ?? null;
  const task: Task =
    requested === null ? await openTask(git) : { session: requested, branch: null, isDefault: false };
  const { subscription } = options;
  const gateway = await gatewayToUse();
  if (gateway === "refused") return 1;
  const added = await additionsOf(directory, words, { session: task.session, subscription, gateway });
  if (!options.quiet) printNote(`session ${task.session}${placeOf(task)}`);
  if (options.export !== undefined) {
    await exportVariables(options.export, added.env);
    return 0;
  }
  const status = await withAdded(directory, words, added);
  if (requested === null) await keepTask(git, task.session).catch(() => undefined);
  if (options.stamp) await stampAtEnd(directory, requested);
  return status;
}

type Gateway = RunContext["gateway"];

/** The gateway to point agents at; `refused`: it takes the key of `tallygate login` no more, so every call would fail. */
async function gatewayToUse(): Promise<Gateway | "refused"> {
  const named = agentGateway();
  const login = named ? null : loginFor(undefined);
  if (login === null) return named;
  const { url, key } = login;
  const state = await keyState(url, key);
  if (state === "away") printNote(`${url} does not answer now.`);
  if (state !== "refused") return { url, key };
  printNote(
    `${url} does not take your key any more: it was revoked or has expired. Run \`tallygate login\`.`,
  );
  return state;
}

const placeOf = ({ branch, isDefault }: Task): string =>
  branch === null ? "" : isDefault ? ", for the branch you create from here" : ` of the branch ${branch}`;

type AddedFor = { session: SessionId; subscription: boolean | undefined; gateway: Gateway };

/** What is added to a command line, and the index at which its own arguments begin. */
type Added = AllAdditions & { at: number };

async function additionsOf(
  directory: string,
  words: readonly string[],
  { session, subscription = false, gateway }: AddedFor,
): Promise<Added> {
  const agent = agentOf(words);
  if (subscription && (agent ? !keepsSubscription(agent.name) : headerlessAgent(words) !== null)) {
    throw new Error(`${words[0]} sends one credential only, so --subscription is for Claude Code and Codex.`);
  }
  const codex = agent?.name === "codex" ? await codexSettings(gateway?.url ?? null) : NO_CODEX;
  const claude = await claudeSettings(
    directory,
    agent?.name === "claude" ? words.slice(agent.argumentsAt) : [],
  );
  for (const note of notesOn(words, { agent: agent?.name ?? null, gateway, codex, claude })) printNote(note);
  const context: RunContext = {
    session,
    env: agent?.name === "claude" ? effectiveEnv(claude) : (name) => readPresent([name]).get(name),
    gateway,
    subscription,
    codex,
  };
  const { env, ...rest } = additionsFor(agent?.name ?? null, context);
  // Codex reads the key from there, and so do hooks and commands below the agent.
  const named = gateway ? { TALLYGATE_URL: gateway.url, [KEY_VARIABLE]: gateway.key } : {};
  return { ...rest, env: { ...env, ...named }, at: agent?.argumentsAt ?? 1 };
}

type Noted = Pick<RunContext, "gateway" | "codex"> & {
  agent: AgentName | null;
  claude: readonly SettingsEnv[];
};

/** Why calls of this run will not carry its session. */
function notesOn(words: readonly string[], { agent, gateway, codex, claude }: Noted): string[] {
  const notes: string[] = [];
  const headerless = headerlessAgent(words);
  if (headerless !== null) {
    notes.push(
      `${headerless} cannot carry this session: its calls are recorded, but count for no pull request.`,
    );
  }
  if (agent === "codex" && !gateway && codex.provider === null) {
    notes.push(
      "Codex has no provider of its own in its settings, so its calls carry no session of ours. Run `tallygate login`, or set TALLYGATE_URL and TALLYGATE_KEY.",
    );
  }
  const replacing = claude.filter(({ env }) => Object.hasOwn(env, CLAUDE_HEADERS)).at(-1);
  if (replacing && (agent === null ? headerless === null : agent === "claude" && replacing.managed)) {
    notes.push(
      `${replacing.path} sets ${CLAUDE_HEADERS}, which replaces ours: Claude Code's calls carry no session of ours.`,
    );
  }
  return notes;
}

/** Runs the command with what is added; settings are in a file only for as long, and for this user only. */
async function withAdded(
  directory: string,
  words: readonly string[],
  { env, args, settings, file, at }: Added,
): Promise<number> {
  const own = words.slice(at);
  if (Object.keys(settings).length === 0 && file === null) {
    return await runToEnd(directory, [...words.slice(0, at), ...args, ...own], env);
  }
  const place = await mkdtemp(join(tmpdir(), "tallygate-"));
  try {
    const write = async (text: string) => {
      const path = join(place, "settings.json");
      await writeFile(path, text, { mode: 0o600 });
      return path;
    };
    const named = file && { [file.variable]: await write(await runSettingsText(file)) };
    const rest =
      Object.keys(settings).length > 0 ? await withSettings(own, settings, { directory, write }) : own;
    return await runToEnd(directory, [...words.slice(0, at), ...args, ...rest], { ...env, ...named });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function runToEnd(
  directory: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const all = inheritedEnv({ ...OURS, ...env });
  const [program = ""] = words;
  const path = Bun.which(program, { PATH: all["PATH"] ?? "", cwd: directory });
  if (path === null) {
    printNote(`${program} is not installed, or not on the PATH.`);
    return NOT_FOUND;
  }
  const child = Bun.spawn([path, ...words.slice(1)], {
    cwd: directory,
    env: all,
    stdio: ["inherit", "inherit", "inherit"],
  });
  // Ctrl-C reaches the agent on its own: both are in the terminal's foreground process group.
  const wait = () => undefined;
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGINT", wait).on("SIGTERM", pass).on("SIGHUP", pass);
  await child.exited;
  process.off("SIGINT", wait).off("SIGTERM", pass).off("SIGHUP", pass);
  return (
    child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode as NodeJS.Signals] : 0)
  );
}

/** Stamps the requested session, since the calls carried it, else the branch's. */
async function stampAtEnd(directory: string, requested: SessionId | null): Promise<void> {
  try {
    const { text } = await stampPullRequest(gitIn(directory), openGithub(directory, null), {
      place: null,
      number: null,
      session: requested,
      reported: null,
      fromCommits: false,
      dryRun: false,
    });
    printNote(text);
  } catch (error) {
    printNote(error instanceof Error ? error.message : "The pull request could not be stamped.");
  }
}
