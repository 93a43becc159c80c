import type { SessionId } from "#shared/labels.ts";
import { Secret } from "../../directory.ts";
import type { Gateway } from "../agents/agent.ts";
import { ApiError, apiAt } from "../client/api.ts";
import { type Git, isDefaultBranch } from "./git.ts";
import { githubHost } from "./github.ts";
import { remotesOn } from "./remote.ts";
import { currentPlace, headElsewhere, keepPlace, seenPlace, switchedTo } from "./seen-places.ts";
import { wrappersSession } from "./task.ts";

/** A declared branch is at most this long. */
const BRANCH_MAX = 256;

/** Declares which branch sessions work on, within a GitHub repository. @throws ApiError if the gateway refuses. */
export async function declareBranch(
  git: Git,
  { sessions, branch }: { sessions: readonly SessionId[]; branch: string },
  gateway: Gateway,
): Promise<void> {
  const [remote] = await remotesOn(git, githubHost());
  if (!remote || branch.length > BRANCH_MAX) return;
  const api = apiAt(gateway.url, new Secret(gateway.key));
  const repository = `${remote.owner}/${remote.repository}`;
  for (const session of new Set(sessions)) {
    await api.call("POST", "/v1/sessions/contexts", { session, branch, repository });
  }
}

/**
 * Declares the branch that an agent's session works on, if it changed: the one that its last tool committed to, else the
 * one that the worktree of such a commit was switched to, else the one that is checked out. Work only starts from a default branch, so that one is declared just to end another's stretch.
 * A wrapper's session is declared as well: calls of agents without an id of their own have it alone.
 * @throws ApiError if the gateway does not answer; the next call tries again.
 */
export async function declareWork(
  git: Git,
  { session, worked }: { session: SessionId; worked: readonly string[] },
  gateway: Gateway | null,
): Promise<void> {
  const place = await currentPlace(git);
  const seen = await seenPlace(session);
  const isSeen = place === null || seen?.place === place;
  const elsewhere = worked.at(-1) ?? (seen && (await switchedTo(seen)));
  const branch = elsewhere ?? (isSeen ? null : (place.split("\n")[1] ?? null));
  if (branch === null) return;
  const isStart = !seen?.isDeclared && (await isDefaultBranch(git, branch));
  if (!isStart && gateway !== null) {
    const sessions = [session, wrappersSession() ?? session];
    await declareBranch(git, { sessions, branch }, gateway).catch((error) => {
      // A gateway that refuses, such as an earlier version, would refuse every time.
      if (!(error instanceof ApiError) || error.status === null || error.status >= 500) throw error;
    });
  }
  if (place === null) return;
  const head = elsewhere === null ? null : await headElsewhere(git, elsewhere);
  await keepPlace(session, { place, isDeclared: !isStart, elsewhere: head }).catch(() => undefined);
}
