import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { keysOf } from "#shared/keys-of.ts";
import { TRANSPILED } from "./transpiled.ts";

const ROOT = join(import.meta.dir, "../..");
/** Far too large to be dependencies; kept beside them, out of the repository's sight. */
const CACHE = join(ROOT, "node_modules/.cache/agents");
const INSTALL_MS = 240_000;

/** The coding agents of the suites: package, version, and the program that it brings. */
const AGENTS = {
  "claude-code": { package: "@anthropic-ai/claude-code", version: "2.1.330", program: "claude" },
  codex: { package: "@openai/codex", version: "0.169.0", program: "codex" },
  "gemini-cli": { package: "@google/gemini-cli", version: "0.61.0", program: "gemini" },
  copilot: { package: "@github/copilot", version: "1.0.102", program: "copilot" },
  opencode: { package: "opencode-ai", version: "1.18.33", program: "opencode" },
  "qwen-code": { package: "@qwen-code/qwen-code", version: "0.24.4", program: "qwen" },
} as const;
export type AgentName = keyof typeof AGENTS;

/** Those to which only `tallygate run` gives a session. */
const RUN_ONLY = {
  continue: { package: "@continuedev/cli", version: "1.5.47", program: "cn" },
} as const;

/**
 * The beginning of an agent's command line, installed once by Bun. Null where that fails, because the registry is away or the
 * agent is not made for this machine: the reason is written to stderr, and the suite must skip and say so.
 */
export async function agentProgram(name: AgentName | keyof typeof RUN_ONLY): Promise<string[] | null> {
  const { package: pack, version, program } = { ...AGENTS, ...RUN_ONLY }[name];
  const directory = join(CACHE, `${name}-${version}`);
  const path = join(directory, "node_modules/.bin", program);
  if (!(await Bun.file(path).exists())) await install(directory, `${pack}@${version}`);
  const command = (await isScript(path)) ? [process.execPath, path] : [path];
  if ((await Bun.file(path).exists()) && (await runs(directory, command))) return command;
  process.stderr.write(`${pack}@${version} is not to be had here: its suite is skipped\n`);
  return null;
}

/** Those of `bun run test`; the others run with `--all`. */
const QUICK: readonly AgentName[] = ["claude-code", "codex"];

/** Installs them, so that suites which run at the same time do not each do so. */
export const prepareAgents = (all: boolean) =>
  Promise.all((all ? [...keysOf(AGENTS), ...keysOf(RUN_ONLY)] : QUICK).map(agentProgram));

/** Whether the program starts here, which takes seconds and is tried once. */
async function runs(directory: string, command: readonly string[]): Promise<boolean> {
  const marker = Bun.file(join(directory, "runs"));
  if (await marker.exists()) return true;
  const env = { PATH: programPath(), HOME: directory };
  if (!Bun.spawnSync([...command, "--version"], { env }).success) return false;
  await marker.write("");
  return true;
}

/** A script asks for Node, which need not be here: Bun runs it. */
const isScript = async (path: string): Promise<boolean> =>
  (await Bun.file(path)
    .slice(0, 2)
    .text()
    .catch(() => "")) === "#!";

/** In a directory of its own that gets its name when it is whole, so that one which was cut off is never used. */
async function install(directory: string, spec: string): Promise<void> {
  const making = `${directory}.${process.pid}`;
  await mkdir(making, { recursive: true });
  await Bun.write(join(making, "package.json"), '{"private":true}');
  const run = Bun.spawn([process.execPath, "add", "--exact", spec], {
    cwd: making,
    stdout: "ignore",
    stderr: "pipe",
    timeout: INSTALL_MS,
  });
  const said = await new Response(run.stderr).text();
  if ((await run.exited) === 0) await rename(making, directory).catch(() => undefined);
  else process.stderr.write(`${spec} could not be installed: ${said.trim().split("\n").at(-1)}\n`);
  await rm(making, { recursive: true, force: true });
}

export type AgentRun = { status: number | null; stdout: string; stderr: string };

/**
 * Runs an agent in a directory, with that directory as its home and nothing of this process's environment. Any address
 * but loopback leads to a port where nobody listens.
 */
export async function runAgent(
  command: readonly string[],
  { home, env }: { home: string; env: Record<string, string> },
): Promise<AgentRun> {
  const nowhere = "http://127.0.0.1:9";
  const child = Bun.spawn([...command], {
    cwd: home,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // Only what hangs takes as long, on any machine; the test's own limit comes later.
    timeout: 240_000,
    killSignal: "SIGKILL",
    env: {
      PATH: programPath(),
      HOME: home,
      TMPDIR: home,
      SHELL: "/bin/sh",
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      NO_PROXY: "127.0.0.1,localhost",
      ...TRANSPILED,
      ...env,
    },
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { status: await child.exited, stdout, stderr };
}

const programPath = (): string => process.env["PATH"] ?? "";
