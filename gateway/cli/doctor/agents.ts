import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { readPresent } from "#shared/env.ts";
import { SESSION_VARIABLE } from "../../hooks/managed-settings.ts";
import { readLogin } from "../client/login.ts";
import { type AgentSettings, READERS } from "../stamping/agent-settings.ts";
import { AGENT_NAMES, type AgentName, agentTitle } from "../stamping/agents.ts";
import { gatewayOf } from "../stamping/agents-gateway.ts";
import type { Git } from "../stamping/git.ts";
import { DIRECTORIES } from "../stamping/hook-files.ts";
import { claudeFinding } from "./claude.ts";
import { attemptCheck, type Finding, failed, passed, skipped } from "./finding.ts";
import { hookFinding } from "./hooks.ts";

export type AgentsUnderTest = {
  directory: string;
  git: Git;
  /** The gateway's address. */
  url: string;
  /** Whether `tallygate run` points agents at the gateway here. */
  runLeads: boolean;
};

/** How an agent is always led to the gateway, without `tallygate run`. */
const LEAD: Readonly<Record<AgentName, (url: string) => string>> = {
  claude: (url) => `set ANTHROPIC_BASE_URL=${url} and ANTHROPIC_AUTH_TOKEN to a client key`,
  codex: (url) =>
    `give config.toml a model_provider with base_url = "${url}/v1", wire_api = "responses" and env_key`,
  gemini: (url) => `set GOOGLE_GEMINI_BASE_URL=${url} and GEMINI_API_KEY to a client key`,
  copilot: (url) => `set COPILOT_PROVIDER_BASE_URL=${url}/v1 and COPILOT_PROVIDER_API_KEY to a client key`,
  qwen: (url) => `set OPENAI_BASE_URL=${url}/v1 and OPENAI_API_KEY to a client key`,
  opencode: (url) => `give opencode.json a provider with the options baseURL "${url}/v1" and apiKey`,
};

/** Agents that `run` cannot point at the gateway: their own settings do. */
const LED_BY_SETTINGS: ReadonlySet<AgentName> = new Set(["opencode"]);

/** For each agent used here: where its calls go, which session they carry, and whether its hook stamps. */
export async function* agentFindings(it: AgentsUnderTest): AsyncGenerator<Finding> {
  const homes = { home: homedir(), env: (name: string) => readPresent([name]).get(name) };
  const used = AGENT_NAMES.filter((name) => existsSync(DIRECTORIES[name](homes)));
  if (used.length === 0)
    yield skipped(
      "No coding agent has settings here.",
      "None was checked. `tallygate install NAME` sets one up.",
    );
  for (const name of used) {
    const settings = await READERS[name](it);
    yield addressFinding(name, settings, it);
    const key = keyFinding(name, settings);
    if (key) yield key;
    const session = sessionFinding(name, settings);
    if (session) yield session;
    else if (name === "claude") {
      yield await attemptCheck("Claude Code's settings cannot be read.", () => claudeFinding(it.directory));
    }
    yield await attemptCheck(`The hook of ${agentTitle(name)} cannot be looked at.`, () =>
      hookFinding(name, it.directory),
    );
  }
}

function addressFinding(
  name: AgentName,
  { address, keyCommand, source }: AgentSettings,
  it: AgentsUnderTest,
): Finding {
  const title = agentTitle(name);
  if (address !== null && originOf(address) === originOf(it.url)) {
    return passed(`${title} calls the gateway (${source}).`);
  }
  const run = LED_BY_SETTINGS.has(name) ? "" : `start it with \`tallygate run -- ${name}\`, or `;
  const lead = LEAD[name](it.url);
  if (keyCommand !== null) {
    return failed(
      `${title} bypasses the gateway: ${source} sends its calls to ${hostOf(address ?? keyCommand.url)}.`,
      `Run \`tallygate login --url ${it.url}\`, then \`tallygate install ${name}\`.`,
    );
  }
  const install = `\`tallygate login\` and \`tallygate install ${name}\` lead it there. Or `;
  const remedy = `${install}${run}${lead}.`;
  if (address !== null) {
    return failed(`${title} bypasses the gateway: ${source} sends its calls to ${hostOf(address)}.`, remedy);
  }
  if (it.runLeads && run !== "") {
    return skipped(`${title} calls its vendor directly, unless \`tallygate run\` starts it.`, remedy);
  }
  return failed(`${title} bypasses the gateway: it calls its vendor directly.`, remedy);
}

/** Whether the command that an agent asks for its key can print one; null if it can, or if it asks none of ours. */
function keyFinding(name: AgentName, { keyCommand }: AgentSettings): Finding | null {
  if (keyCommand === null) return null;
  const title = agentTitle(name);
  const { program, url } = keyCommand;
  if (isAbsolute(program) && !existsSync(program)) {
    return failed(
      `${title} gets no key: it asks ${program}, which does not exist.`,
      `\`tallygate install ${name}\` mends it.`,
    );
  }
  const login = readLogin();
  if (login?.url === url) return null;
  const where =
    login === null ? "this computer is not signed in" : `this computer is signed in at ${login.url}`;
  return failed(
    `${title} gets no key for ${url}: ${where}.`,
    `Run \`tallygate login --url ${url}\`${login === null ? "" : `, or \`tallygate install ${name}\` for ${login.url}`}.`,
  );
}

function sessionFinding(name: AgentName, { fixedSession, sessionSource }: AgentSettings): Finding | null {
  // In a shell that `tallygate run` started, the session is the run's.
  if (fixedSession === null || fixedSession === readPresent([SESSION_VARIABLE]).get(SESSION_VARIABLE))
    return null;
  return failed(
    `${agentTitle(name)}: ${sessionSource} gives every call the session ${fixedSession}, whatever the branch.`,
    "Take x-session-id out of it: `tallygate run` sets it, and without a run the agent sends its own.",
  );
}

/** Scheme, host and port, with one name for this machine. */
const originOf = (address: string): string =>
  (URL.parse(gatewayOf(address))?.origin ?? address).replace("//localhost", "//127.0.0.1");

/** Without the credentials that an address may carry. */
const hostOf = (address: string): string => URL.parse(address)?.host ?? "another address";
