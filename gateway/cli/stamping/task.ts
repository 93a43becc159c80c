import { readPresent } from "#shared/env.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import { AGENT_NAMES, AGENTS } from "../agents/agents.ts";
import { SESSION_VARIABLE } from "../agents/variables.ts";
import { keptRequest, newSession, pinnedSession, pinSession, unpinSession } from "./branch-session.ts";
import { currentBranch, type Git, isDefaultBranch } from "./git.ts";
import type { GithubApi } from "./github.ts";
import { readPullRequest } from "./pull-request.ts";

const readSession = (name: string): SessionId | null => parseSessionId(readPresent([name]).get(name));

/** The session of the wrapper around this process, or null. */
export const wrappersSession = (): SessionId | null => readSession(SESSION_VARIABLE);

/** The surrounding agent's own session, or null. */
const agentsSession = (): SessionId | null =>
  AGENT_NAMES.flatMap((name) => AGENTS[name].sessionVariables ?? [])
    .map(readSession)
    .find((id) => id !== null) ?? null;

export type Task = { session: SessionId; branch: string | null; isDefault: boolean };

/**
 * The task that a run belongs to: the branch's, else a surrounding wrapper's, else a new one, to which a working branch
 * is then pinned. On the default branch, and outside a branch, every run is a task of its own: a branch created during
 * it takes over its id (`keepTask`).
 */
export async function openTask(git: Git, github: () => GithubApi): Promise<Task> {
  const branch = await currentBranch(git);
  // If GitHub does not answer, the task continues.
  if (branch !== null) await endFinishedTask(git, github, { branch, before: Date.now() }).catch(() => false);
  const isDefault = branch !== null && (await isDefaultBranch(git, branch));
  const offered = wrappersSession() ?? newSession();
  if (branch === null || isDefault) return { session: offered, branch, isDefault };
  return { session: await pinSession(git, branch, offered), branch, isDefault };
}

/** Ends a branch's task whose pull request ended by `before` (milliseconds). @throws Error if GitHub refuses. */
export async function endFinishedTask(
  git: Git,
  github: () => GithubApi,
  { branch, before }: { branch: string; before: number },
): Promise<boolean> {
  const kept = await keptRequest(git, branch);
  const found = kept && (await readPullRequest(github(), kept, kept.number));
  if (!found?.closedAt || Date.parse(found.closedAt) >= before) return false;
  await unpinSession(git, branch);
  return true;
}

/** Pins a working branch without a pin to the session that ran. @returns branch and session; null: no working branch */
export async function keepTask(
  git: Git,
  session: SessionId,
): Promise<{ branch: string; session: SessionId } | null> {
  const branch = await currentBranch(git);
  if (branch === null || (await isDefaultBranch(git, branch))) return null;
  return { branch, session: await pinSession(git, branch, session) };
}

/** The session of a branch's task: the one it is pinned to, else a surrounding wrapper's. */
export const taskSession = async (git: Git, branch: string | null): Promise<SessionId | null> =>
  (branch === null ? null : await pinnedSession(git, branch)) ?? wrappersSession();

/** The session that carries the surrounding agent's calls, whatever the branch: a wrapper's, else its own. */
export const agentsOwn = (reported: SessionId | null): SessionId | null =>
  wrappersSession() ?? reported ?? agentsSession();

/** The session of a branch's pull request; null: unknown. Never a new one, which no call would carry. */
export const knownSession = async (
  git: Git,
  reported: SessionId | null,
  branch?: string,
): Promise<SessionId | null> =>
  (await taskSession(git, branch ?? (await currentBranch(git)))) ?? agentsOwn(reported);
