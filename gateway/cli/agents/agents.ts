import { keysOf } from "#shared/keys-of.ts";
import type { Agent, Run } from "./agent.ts";
import { CLAUDE } from "./claude.ts";
import { CODEX } from "./codex.ts";
import { COPILOT } from "./copilot.ts";
import { GEMINI } from "./gemini.ts";
import { OPENCODE } from "./opencode.ts";
import { QWEN } from "./qwen.ts";
import { RUN_ONLY } from "./run-only.ts";
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

/** Agents to which a run cannot give a header for their calls, by title: their programs and packages. */
const WITHOUT_HEADERS: Readonly<Record<string, readonly string[]>> = {
  Cline: ["cline"],
  Crush: ["crush", "@charmland/crush"],
  goose: ["goose"],
  "Kilo Code": ["kilo", "kilocode", "@kilocode/cli"],
};

/** Programs that run others, which may be agents, and make no calls themselves. */
const RUNNERS =
  /^(?:[a-z]*sh|env|nu|make|just|task|tmux|screen|script|timeout|time|nice|xargs|docker|git|npm|pnpm|yarn|bun|node|deno|true|false|echo)$/;

type Started = Pick<Agent, "title" | "names" | "subscription" | "run">;
const STARTED: readonly Started[] = [...AGENT_NAMES.map((name) => AGENTS[name]), ...RUN_ONLY];

/** The agent that a command line starts, directly or through a package runner, and the index of its own arguments. */
export function agentOf(command: readonly string[]): { agent: Started; argumentsAt: number } | null {
  const { program, at } = programOf(command);
  const agent = STARTED.find(({ names }) => names.includes(program));
  return agent ? { agent, argumentsAt: at + 1 } : null;
}

/** The name of the started agent whose calls cannot carry a session of ours, or null. */
export function headerlessAgent(command: readonly string[]): string | null {
  const { program } = programOf(command);
  const found = Object.entries(WITHOUT_HEADERS).find(([, names]) => names.includes(program));
  return found?.[0] ?? null;
}

/** Why the calls of what a command line starts may not carry the session, if it is no agent known here; null: they do. */
export function whyNotCarried(command: readonly string[]): string | null {
  const headerless = headerlessAgent(command);
  if (headerless !== null)
    return `${headerless} cannot carry this session: its calls are recorded, but count for no pull request.`;
  const { program } = programOf(command);
  if (command.length === 0 || agentOf(command) !== null || RUNNERS.test(program)) return null;
  return `${program} is no agent that \`run\` knows. Its calls count for no pull request unless they send GATEWAY_SESSION_ID as x-session-id.`;
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
export async function additionsFor(agent: Started | null, run: Run) {
  // In a shell, an agent that cannot keep its subscription is not led to the organisation's key instead.
  const led = (it: Started): Run => (run.subscription && !it.subscription ? { ...run, gateway: null } : run);
  const agents = agent ? [agent] : AGENT_NAMES.map((name) => AGENTS[name]).filter(({ alone }) => !alone);
  const all = await Promise.all(agents.map((it) => it.run(led(it))));
  return {
    ...(agent && all[0]),
    env: Object.assign({ [SESSION_VARIABLE]: run.session }, ...all.map(({ env }) => env)),
    notes: all.flatMap(({ note }) => note ?? []),
  };
}
