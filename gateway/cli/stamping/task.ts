import { readPresent } from "#shared/env.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { SESSION_VARIABLE } from "../../hooks/managed-settings.ts";
import { newSession, pinnedSession, pinSession } from "./branch-session.ts";
import { currentBranch, type Git, isDefaultBranch } from "./git.ts";

/** What agents tell the programs that they start of the session that they send themselves, the most specific first. */
const AGENTS_OWN = [
  "CLAUDE_CODE_REMOTE_SESSION_ID",
  "CLAUDE_CODE_SESSION_ID",
  "CODEX_THREAD_ID",
  "GEMINI_SESSION_ID",
] as const;

const readSession = (name: string): SessionId | null => parseSessionId(readPresent([name]).get(name));

/** The session of the wrapper that this process runs under, or null. */
const wrappersSession = (): SessionId | null => readSession(SESSION_VARIABLE);

/** The session that the agent around this process sends of itself, or null. */
const agentsSession = (): SessionId | null => AGENTS_OWN.map(readSession).find((id) => id !== null) ?? null;

export type Task = { session: SessionId; branch: string | null; isDefault: boolean };

/**
 * The task that a run belongs to: the branch's, else the one of a wrapper around, else a new one. A branch that work
 * happens on is pinned to it. On the default branch, and outside a branch, every run is a task of its own: its id goes
 * over to the branch that is made in it (`keepTask`).
 */
export async function openTask(git: Git): Promise<Task> {
  const branch = await currentBranch(git);
  const isDefault = branch !== null && (await isDefaultBranch(git, branch));
  const offered = wrappersSession() ?? newSession();
  if (branch === null || isDefault) return { session: offered, branch, isDefault };
  return { session: await pinSession(git, branch, offered), branch, isDefault };
}

/** Pins the branch that is checked out now to the session that ran, if it is a branch of work without a pin. */
export async function keepTask(git: Git, session: SessionId): Promise<void> {
  const branch = await currentBranch(git);
  if (branch !== null && !(await isDefaultBranch(git, branch))) await pinSession(git, branch, session);
}

/**
 * The session that a pull request of this branch belongs to, or null where nothing tells. Never a new one: an id that no
 * call carries would stamp nothing.
 */
export async function knownSession(git: Git, told: SessionId | null): Promise<SessionId | null> {
  const branch = await currentBranch(git);
  const pinned = branch === null ? null : await pinnedSession(git, branch);
  return pinned ?? wrappersSession() ?? told ?? agentsSession();
}
