import { CLAUDE_HEADERS, SESSION_LINE } from "../stamping/agents.ts";
import { claudeSettings } from "../stamping/claude-settings.ts";
import { type Finding, failed, passed } from "./finding.ts";

/** Whether Claude Code's own settings replace the headers of a run. */
export async function claudeFinding(directory: string): Promise<Finding> {
  const setting = (await claudeSettings(directory)).filter(({ env }) => Object.hasOwn(env, CLAUDE_HEADERS));
  const last = setting.at(-1);
  if (!last) return passed("Claude Code's settings replace no headers of `tallygate run`.");
  const session = SESSION_LINE.exec(last.env[CLAUDE_HEADERS] ?? "")?.[1];
  if (session !== undefined) {
    return failed(
      `${last.path} gives every call the session ${session}, whatever the branch.`,
      `Take x-session-id out of ${CLAUDE_HEADERS} there: \`tallygate run\` sets it.`,
    );
  }
  if (last.managed) {
    return failed(
      `${last.path} sets ${CLAUDE_HEADERS}, which \`tallygate run\` cannot replace.`,
      "Calls of Claude Code carry its own session here. Take the variable out, or stamp without `run`.",
    );
  }
  return passed(`Claude Code's own headers (${last.path}) are kept by \`tallygate run\`.`);
}
