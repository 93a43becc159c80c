import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { inheritedEnv } from "#shared/env.ts";
import type { SessionId } from "#shared/labels.ts";
import type { Additions, Gateway } from "../agents/agent.ts";
import { additionsFor, agentOf, headerlessAgent, whyNotCarried } from "../agents/agents.ts";
import { HOMES } from "../agents/homes.ts";
import { KEY_VARIABLE } from "../agents/variables.ts";
import { agentGateway, loginFor } from "../client/settings.ts";
import { declareBranch } from "../stamping/context.ts";
import { type Git, gitIn } from "../stamping/git.ts";
import { openGithub } from "../stamping/github.ts";
import { linkSession } from "../stamping/link.ts";
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
    .description("Run a coding agent with the branch's session on every call.")
    .argument("[command...]", "the agent's own command line, after --")
    .option("--session <id>", "use this session instead of the branch's", parseSession)
    .option("--subscription", "bill only the agent's own subscription (Claude Code and Codex)")
    .option("--stamp", "stamp the branch's pull request, if any, when the agent exits")
    .option("-q, --quiet", "do not print the session")
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
Claude Code, Codex, Gemini CLI, Copilot CLI, opencode, Qwen Code, aider, Continue and Droid are each configured in their own way. For any other
command, such as a shell, it sets every agent's variables except Qwen Code's, which would redirect other programs. With
\`tallygate login\`, or TALLYGATE_URL and TALLYGATE_KEY, the agent uses that gateway, unless it is configured for another one.
Otherwise only the session is added.

Cline, Crush, goose and Kilo Code cannot send the session: their calls are recorded, but count for no pull request. \`run\`
says so, also for programs that it does not know.

  tallygate run -- claude
  tallygate run -- codex exec "fix the build"
  tallygate run -- npx @google/gemini-cli
  tallygate run --export "$GITHUB_ENV"`;

/** Runs the command to its end and returns its exit status. */
async function run(directory: string, words: readonly string[], options: Options): Promise<number> {
  const git = gitIn(directory);
  const requested = options.session ?? null;
  const task: Task =
    requested === null
      ? await openTask(git, () => openGithub(directory, null))
      : { session: requested, branch: null, isDefault: false };
  const { subscription } = options;
  const gateway = await gatewayToUse();
  if (gateway === "refused") return 1;
  // Without an answer the run begins: hooks declare what it works on, and so does its end.
  const declared = (branch: string) =>
    gateway && declareBranch(git, { sessions: [task.session], branch }, gateway).catch(() => undefined);
  if (task.branch !== null && !task.isDefault) await declared(task.branch);
  const added = await additionsOf(directory, words, { session: task.session, subscription, gateway });
  if (!options.quiet) printNote(`session ${task.session}${placeOf(task)}`);
  if (options.export !== undefined) {
    await exportVariables(options.export, added.env ?? {});
    return 0;
  }
  const status = await withAdded(directory, words, added);
  if (requested === null) {
    const kept = await keepAndDeclare(git, task.session, gateway).catch(() => null);
    if (kept !== null) await declared(kept.branch);
  }
  if (options.stamp) await stampAtEnd(directory, requested);
  return status;
}

/** Keeps the branch's session, and reports to the gateway where its task is, so that other clones of the branch can join it. */
async function keepAndDeclare(git: Git, session: SessionId, gateway: Gateway | null) {
  const kept = await keepTask(git, session);
  if (kept !== null) await linkSession(git, kept, gateway);
  return kept;
}

/** The gateway to point agents at; `refused`: it takes the key of `tallygate login` no more, so every call would fail. */
async function gatewayToUse(): Promise<Gateway | null | "refused"> {
  const named = agentGateway();
  const login = named ? null : loginFor(undefined);
  if (login === null) return named;
  const { url, key } = login;
  const state = await keyState(url, key);
  if (state === "away") printNote(`${url} does not answer.`);
  if (state !== "refused") return { url, key };
  printNote(`${url} no longer accepts your key: it was revoked or has expired. Run \`tallygate login\`.`);
  return state;
}

type KeyState = "valid" | "refused" | "away";

const ANSWER_MS_MAX = 5_000;

/** Whether a gateway takes a client key. */
const keyState = (url: string, key: string): Promise<KeyState> =>
  fetch(`${url}/v1/models`, {
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    headers: { authorization: `Bearer ${key}` },
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      if (answer.ok) return "valid";
      return answer.status === 401 ? "refused" : "away";
    },
    () => "away",
  );

const placeOf = ({ branch, isDefault }: Task): string =>
  branch === null ? "" : isDefault ? ", for the branch you create from here" : ` of the branch ${branch}`;

type AddedFor = { session: SessionId; subscription: boolean | undefined; gateway: Gateway | null };

/** What is added to a command line, and the index at which its own arguments begin. */
type Added = Additions & { at: number };

async function additionsOf(
  directory: string,
  words: readonly string[],
  { session, subscription = false, gateway }: AddedFor,
): Promise<Added> {
  const started = agentOf(words);
  if (subscription && (started ? !started.agent.subscription : headerlessAgent(words) !== null)) {
    throw new Error(`${words[0]} sends one credential only, so --subscription is for Claude Code and Codex.`);
  }
  const own = started && words.slice(started.argumentsAt);
  const run = { session, homes: HOMES, directory, words: own, gateway, subscription };
  const { env, notes, ...rest } = await additionsFor(started?.agent ?? null, run);
  const why = whyNotCarried(words);
  for (const note of why === null ? notes : [why]) printNote(note);
  // Codex reads the key from there, and so do hooks and commands below the agent.
  const named = gateway ? { TALLYGATE_URL: gateway.url, [KEY_VARIABLE]: gateway.key } : {};
  return { ...rest, env: { ...env, ...named }, at: started?.argumentsAt ?? 1 };
}

/** Runs the command with what is added; a file is there only for as long, and for this user only. */
async function withAdded(
  directory: string,
  words: readonly string[],
  { env, at, args = words.slice(at), file }: Added,
): Promise<number> {
  const program = words.slice(0, at);
  if (!file) return await runToEnd(directory, [...program, ...args], env ?? {});
  const place = await mkdtemp(join(tmpdir(), "tallygate-"));
  try {
    const path = join(place, file.name ?? "settings.json");
    await writeFile(path, await file.text(), { mode: 0o600 });
    const told = file.tell(path);
    return await runToEnd(directory, [...program, ...(told.args ?? []), ...args], { ...env, ...told.env });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function runToEnd(directory: string, words: readonly string[], env: Readonly<Record<string, string>>) {
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

/**
 * Appends variables to a file of a workflow's step, `GITHUB_ENV` or `GITHUB_OUTPUT`. Each value ends at a line that no one
 * can guess, so no value can set another variable.
 * Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#multiline-strings
 */
async function exportVariables(file: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const end = `tallygate_${crypto.randomUUID()}`;
  const lines = Object.entries(variables).map(([name, value]) => `${name}<<${end}\n${value}\n${end}\n`);
  await appendFile(file, lines.join(""));
}
