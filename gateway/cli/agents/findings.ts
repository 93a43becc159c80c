import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isRecord, parsedJson } from "#shared/json.ts";
import { readLogin } from "../client/login.ts";
import { LOCATE, RUN } from "../own-program.ts";
import { attemptCheck, type Finding, failed, passed, skipped } from "../print/finding.ts";
import type { AgentSettings, Checkout } from "./agent.ts";
import { AGENT_NAMES, AGENTS, type AgentName } from "./agents.ts";
import { gatewayOf } from "./agents-gateway.ts";
import { fileText, HOMES } from "./homes.ts";
import { HOOK_SCRIPT } from "./json-settings.ts";
import { SESSION_VARIABLE } from "./variables.ts";

export type AgentsUnderTest = Checkout & {
  /** The gateway's address. */
  url: string;
  /** Whether `tallygate run` points agents at the gateway here. */
  runLeads: boolean;
};

/** For each agent used here: where its calls go, which session they carry, and whether its hook stamps. */
export async function* agentFindings(it: AgentsUnderTest): AsyncGenerator<Finding> {
  const used = AGENT_NAMES.filter((name) => existsSync(AGENTS[name].directory(HOMES)));
  if (used.length === 0)
    yield skipped(
      "No coding agent has settings on this machine.",
      "None was checked. `tallygate install NAME` sets one up.",
    );
  for (const name of used) {
    const { title, check, settings: read } = AGENTS[name];
    const settings = await read(HOMES, it);
    yield addressFinding(name, settings, it);
    const key = keyFinding(name, settings);
    if (key) yield key;
    const session = sessionFinding(name, settings);
    if (session) yield session;
    else if (check) {
      yield await attemptCheck(`${title}'s settings cannot be read.`, () => check(HOMES, it.directory));
    }
    yield await attemptCheck(`The hook of ${title} cannot be checked.`, () =>
      hookFinding(name, it.directory),
    );
  }
}

function addressFinding(
  name: AgentName,
  { address, keyCommand, source }: AgentSettings,
  it: AgentsUnderTest,
): Finding {
  const { title, isLedBySettings, lead } = AGENTS[name];
  if (address !== null && originOf(address) === originOf(it.url)) {
    return passed(`${title} calls the gateway (${source}).`);
  }
  const run = isLedBySettings ? "" : `start it with \`tallygate run -- ${name}\`, or `;
  if (keyCommand) {
    return failed(
      `${title} bypasses the gateway: ${source} sends its calls to ${hostOf(address ?? keyCommand.url)}.`,
      `Run \`tallygate login --url ${it.url}\`, then \`tallygate install ${name}\`.`,
    );
  }
  const install = `\`tallygate login\` and \`tallygate install ${name}\` connect it to the gateway. Or `;
  const remedy = `${install}${run}${lead(it.url)}.`;
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
  if (!keyCommand) return null;
  const { title } = AGENTS[name];
  const { program, url } = keyCommand;
  if (isAbsolute(program) && !existsSync(program)) {
    return failed(
      `${title} has no key: it runs ${program}, which does not exist.`,
      `Run \`tallygate install ${name}\` to fix it.`,
    );
  }
  const login = readLogin();
  if (login?.url === url) return null;
  const where =
    login === null ? "this computer is not signed in" : `this computer is signed in at ${login.url}`;
  return failed(
    `${title} has no key for ${url}: ${where}.`,
    `Run \`tallygate login --url ${url}\`${login === null ? "" : `, or \`tallygate install ${name}\` for ${login.url}`}.`,
  );
}

function sessionFinding(name: AgentName, { fixedSession, source, sessionSource = source }: AgentSettings) {
  // In a shell that `tallygate run` started, the session is the run's.
  if (!fixedSession || fixedSession === HOMES.env(SESSION_VARIABLE)) return null;
  return failed(
    `${AGENTS[name].title}: ${sessionSource} sends the session ${fixedSession} with every call, on every branch.`,
    "Remove x-session-id from it: `tallygate run` sets it, and otherwise the agent sends its own.",
  );
}

/** Scheme, host and port, with one name for this machine. */
const originOf = (address: string): string =>
  (URL.parse(gatewayOf(address))?.origin ?? address).replace("//localhost", "//127.0.0.1");

/** Without the credentials that an address may carry. */
const hostOf = (address: string): string => URL.parse(address)?.host ?? "another address";

async function hookFinding(name: AgentName, directory: string): Promise<Finding> {
  const { title, hook, agreement } = AGENTS[name];
  const path = hook.path(HOMES);
  const text = (await fileText(path)).replaceAll("file://", "");
  const install = `\`tallygate install ${name}\` adds it.`;
  const program = PROGRAM.exec(text)?.slice(1).find(Boolean);
  if (!program) return skipped(`${title} has no hook that stamps pull requests.`, install);
  if (!existsSync(decodeURI(program))) {
    return failed(`${title}'s hook runs ${program}, which does not exist.`, install);
  }
  if (isSwitchedOff(parsedJson(text))) {
    return failed(
      `${title} does not run hooks: ${path} switches them off.`,
      "Remove disableAllHooks, or hooksConfig.enabled, from it.",
    );
  }
  return agreement
    ? await agreement.check(directory)
    : passed(`${title} has the hook that stamps pull requests.`);
}

/** An absolute path without blanks. */
const PATH = `(?:[A-Za-z]:)?/[^\\s"'\\\\]*`;
const SCRIPT = `(?:${HOOK_SCRIPT}|opencode-hook\\.ts)`;
/** What a hook runs: the compiled program that has our script, or the script. */
const PROGRAM = new RegExp(`(${PATH})\\W+(?:${RUN}|${LOCATE})\\W+[\\w/-]*${SCRIPT}|(${PATH}${SCRIPT})`);

/** Claude Code's switch, and Gemini CLI's. */
const isSwitchedOff = (settings: unknown): boolean =>
  isRecord(settings) &&
  (settings["disableAllHooks"] === true ||
    (isRecord(settings["hooksConfig"]) && settings["hooksConfig"]["enabled"] === false));
