import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { readPresent } from "#shared/env.ts";
import { isRecord, parsedJson } from "#shared/json.ts";
import { LOCATE, RUN } from "../own-program.ts";
import { type AgentName, agentTitle } from "../stamping/agents.ts";
import { codexHooks, runsHook } from "../stamping/codex-hooks.ts";
import { HOOK_FILES } from "../stamping/hook-files.ts";
import { HOOK_SCRIPT } from "../stamping/hook-groups.ts";
import { type Finding, failed, passed, skipped } from "./finding.ts";

/** Whether an agent has the hook that stamps, and runs it. */
export async function hookFinding(name: AgentName, directory: string): Promise<Finding> {
  const title = agentTitle(name);
  const path = HOOK_FILES[name].path({ home: homedir(), env: (it) => readPresent([it]).get(it) });
  const text = (
    await Bun.file(path)
      .text()
      .catch(() => "")
  ).replaceAll("file://", "");
  const install = `\`tallygate install ${name}\` adds it.`;
  const program = PROGRAM.exec(text)?.slice(1).find(Boolean);
  if (!program) return skipped(`${title} has no hook that stamps pull requests.`, install);
  if (!existsSync(decodeURI(program))) {
    return failed(`${title}'s hook runs ${program}, which does not exist.`, install);
  }
  if (isSwitchedOff(parsedJson(text))) {
    return failed(
      `${title} runs no hooks: ${path} switches them off.`,
      "Take disableAllHooks, or hooksConfig.enabled, out of it.",
    );
  }
  return name === "codex" ? await codexFinding(directory) : passed(`${title} has the hook that stamps.`);
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

async function codexFinding(directory: string): Promise<Finding> {
  const hooks = await codexHooks(directory);
  if (hooks === null || hooks.length === 0) {
    return skipped(
      "Codex has the hook that stamps.",
      "Whether it trusts it could not be asked: start `codex`.",
    );
  }
  if (hooks.every(runsHook)) return passed("Codex has the hook that stamps, and trusts it.");
  const changed = hooks.some(({ trustStatus }) => trustStatus === "modified");
  return failed(
    `Codex does not run the hook that stamps: ${changed ? "it changed since it was trusted" : "it is not trusted yet"}.`,
    "Agree in Codex (/hooks), or run `tallygate install codex --trust`. `codex exec` never asks, and skips it.",
  );
}
