import { newId } from "#shared/ids.ts";
import { parseSessionId, type SessionId } from "#shared/labels.ts";
import type { Git } from "./git.ts";

// A branch's task id is kept as `branch.<name>.gateway-session` in the repository's own configuration: all worktrees
// share it, it is renamed and deleted with the branch, and it never enters the history.

const keyOf = (branch: string): string => `branch.${branch}.gateway-session`;

/** The id that the branch is pinned to, or null. */
export async function pinnedSession(git: Git, branch: string): Promise<SessionId | null> {
  const all = await git("config", "--local", "--get-all", keyOf(branch));
  return (
    all
      ?.split("\n")
      .map((line) => parseSessionId(line.trim()))
      .find((id) => id !== null) ?? null
  );
}

/**
 * Pins the branch to `id` unless it is pinned already, and returns the id it is pinned to. Concurrent pins agree: each
 * adds a value under git's own lock, and the first one counts.
 * @throws Error if git's configuration cannot be written.
 */
export async function pinSession(git: Git, branch: string, id: SessionId): Promise<SessionId> {
  const present = await pinnedSession(git, branch);
  if (present !== null) return present;
  for (let tries = 0; tries < TRIES; tries++) {
    if ((await git("config", "--local", "--add", keyOf(branch), id)) !== null) break;
    // Another git process holds the file's lock.
    await Bun.sleep(LOCKED_MS);
  }
  const pinned = await pinnedSession(git, branch);
  if (pinned === null) throw new Error(`The session of ${branch} cannot be written to git's configuration.`);
  return pinned;
}

const TRIES = 20;
const LOCKED_MS = 50;

/** Forgets the branch's session, and what is known of its task's pull request. */
export async function unpinSession(git: Git, branch: string): Promise<void> {
  for (const key of [keyOf(branch), requestKeyOf(branch)]) await git("config", "--local", "--unset-all", key);
}

const requestKeyOf = (branch: string): string => `branch.${branch}.gateway-pull-request`;

type Place = { owner: string; repository: string; number: number };

/** Keeps which pull request names the branch's session: when it is merged or closed, the task is over. */
export const keepRequest = (git: Git, branch: string, { owner, repository, number }: Place) =>
  git("config", "--local", "--replace-all", requestKeyOf(branch), `${owner}/${repository}#${number}`);

export async function keptRequest(git: Git, branch: string): Promise<Place | null> {
  const kept = await git("config", "--local", "--get", requestKeyOf(branch));
  const [, owner, repository, number] = /^([^/]+)\/([^/#]+)#(\d+)$/.exec(kept ?? "") ?? [];
  return owner && repository ? { owner, repository, number: Number(number) } : null;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id: `gs_` and 26 letters and digits, ordered by creation time. */
export function newSession(uuid: string = newId()): SessionId {
  let rest = BigInt(`0x${uuid.replaceAll("-", "")}`);
  let letters = "";
  for (let place = 0; place < 26; place++) {
    letters = (ALPHABET[Number(rest % 32n)] ?? "") + letters;
    rest /= 32n;
  }
  return `gs_${letters}` as SessionId;
}
