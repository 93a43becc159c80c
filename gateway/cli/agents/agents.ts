import { keysOf } from "#shared/keys-of.ts";
import type { Additions, Agent, Run } from "./agent.ts";
import { CLAUDE } from "./claude.ts";
import { CODEX } from "./codex.ts";
import { COPILOT } from "./copilot.ts";
import { GEMINI } from "./gemini.ts";
import { OPENCODE } from "./opencode.ts";
import { QWEN } from "./qwen.ts";
import { SESSION_VARIABLE } from "./variables.ts";

/** Coding agents that can carry a session of ours, in the order in which commands list them. */
const LIST = {
  claude: CLAUDE,
  codex: CODEX,
  gemini: GEMINI,
  copilot: COPILOT,
  opencode: OPENCODE,
  qwen: QWEN,
} as const;

export type AgentName = keyof typeof LIST;
export const AGENTS: Readonly<Record<AgentName, Agent>> = LIST;
export const AGENT_NAMES = keysOf(LIST);

/** Agents to which a run cannot give a header for their calls. */
const WITHOUT_HEADERS: Readonly<Record<string, readonly string[]>> = { Cline: ["cline"] };

/** The agent that a command line starts, directly or through a package runner, and the index of its own arguments. */
export function agentOf(command: readonly string[]): { name: AgentName; argumentsAt: number } | null {
  const { program, at } = programOf(command);
  const name = AGENT_NAMES.find((agent) => AGENTS[agent].names.includes(program));
  return name ? { name, argumentsAt: at + 1 } : null;
}

/** The name of the started agent whose calls cannot carry a session of ours, or null. */
export function headerlessAgent(command: readonly string[]): string | null {
  const { program } = programOf(command);
  const found = Object.entries(WITHOUT_HEADERS).find(([, names]) => names.includes(program));
  return found?.[0] ?? null;
}

function programOf(command: readonly string[]): { program: string; at: number } {
  const runs = /^(npx|bunx|pnpx)$/.test(baseName(command[0] ?? ""));
  const at = runs ? command.findIndex((word, place) => place > 0 && !word.startsWith("-")) : 0;
  const word = (runs ? command[at] : baseName(command[0] ?? "")) ?? "";
  return { program: word.replace(/(?<=.)@[^/@]*$/, ""), at };
}

const baseName = (path: string): string =>
  (path.split(/[\\/]/).at(-1) ?? "").replace(/\.(exe|cmd|bat|ps1)$/i, "");

/**
 * What a run adds to any command: the variables of every agent, because a shell or a script may start one. For a known agent,
 * only its own, plus its arguments and its file.
 */
export async function additionsFor(
  name: AgentName | null,
  run: Run,
): Promise<Additions & { notes: string[] }> {
  // In a shell, an agent that cannot keep its subscription is not led to the organisation's key instead.
  const led = (agent: Agent): Run =>
    run.subscription && !agent.subscription ? { ...run, gateway: null } : run;
  const names = name ? [name] : AGENT_NAMES.filter((it) => !AGENTS[it].alone);
  const all = await Promise.all(names.map((it) => AGENTS[it].run(led(AGENTS[it]))));
  return {
    ...(name && all[0]),
    env: Object.assign({ [SESSION_VARIABLE]: run.session }, ...all.map(({ env }) => env)),
    notes: all.flatMap(({ note }) => note ?? []),
  };
}
