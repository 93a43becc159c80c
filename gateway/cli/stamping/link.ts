import type { SessionId } from "#shared/labels.ts";
import { Secret } from "../../directory.ts";
import { apiAt } from "../client/api.ts";
import { pinnedSession, pinSession } from "./branch-session.ts";
import { type Git, isDefaultBranch } from "./git.ts";
import { githubHost } from "./github.ts";
import { remotesOn } from "./remote.ts";
import { knownSession } from "./task.ts";

/** A session that was declared already, in the repository's own configuration: it is declared once. */
const declaredKey = (branch: string): string => `branch.${branch}.gateway-linked`;

/**
 * Declares at the gateway that an agent's session worked on a branch's task, with the repository and the branch as
 * evidence. Where the branch has no session yet, it gets the surrounding wrapper's, else the agent's. Nothing is declared
 * on the default branch, or without a gateway.
 * @throws ApiError if the gateway refuses or does not answer; the next call tries again.
 */
export async function linkSession(
  git: Git,
  { session, branch }: { session: SessionId; branch: string },
  gateway: { url: string; key: string } | null,
): Promise<SessionId | null> {
  if (await isDefaultBranch(git, branch)) return null;
  const task =
    (await pinnedSession(git, branch)) ??
    (await pinSession(git, branch, (await knownSession(git, session, branch)) ?? session));
  if (gateway === null) return task;
  const declared = `${session} ${task}`;
  const before = await git("config", "--local", "--get-all", declaredKey(branch));
  if (before?.split("\n").includes(declared)) return task;
  const [remote] = await remotesOn(git, githubHost());
  const repository = remote && { repository: `${remote.owner}/${remote.repository}` };
  const name = branch.slice(0, TASK_MAX);
  const body = { session, of: task, task: name, branch: name, ...repository };
  await apiAt(gateway.url, new Secret(gateway.key)).call("POST", "/v1/sessions/links", body);
  await git("config", "--local", "--add", declaredKey(branch), declared);
  return task;
}

const TASK_MAX = 256;
