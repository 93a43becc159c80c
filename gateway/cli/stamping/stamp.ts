import type { SessionId } from "#shared/labels.ts";
import { readSessionLine } from "#shared/session-line.ts";
import { keepRequest, pinSession } from "./branch-session.ts";
import { currentBranch, type Git } from "./git.ts";
import { type GithubApi, githubHost } from "./github.ts";
import {
  commitMessages,
  locatePullRequest,
  type PullRequest,
  type PullRequestChoice,
  readPullRequest,
  writeBody,
} from "./pull-request.ts";
import { remotesOn } from "./remote.ts";
import { notStamped, type Stamped, writeLine } from "./stamp-target.ts";
import { agentsOwn, taskSession } from "./task.ts";

export type StampOptions = PullRequestChoice & {
  /** Given by the caller; null: taken from the branch, a wrapper or the agent. */
  session: SessionId | null;
  /** The id that the surrounding agent reports, used if nothing better is known. */
  reported: SessionId | null;
  /** Whether `Gateway-Session` trailers of its commits may name the session. */
  fromCommits: boolean;
  dryRun: boolean;
};

/**
 * Writes the session of a branch's task into its pull request, unless the pull request names one already: a second id
 * would leave the merge without a cost. Repeating this changes nothing.
 * @throws Error if git or GitHub refuses.
 */
export async function stampPullRequest(git: Git, github: GithubApi, options: StampOptions): Promise<Stamped> {
  const found = await locatePullRequest(git, github, options);
  if (found === null) return noPullRequest(options.number);
  const session = options.session ?? (await sessionFor(found, options, { git, github }));
  if (session === null) return notStamped(found.url, UNKNOWN);
  if (!options.dryRun) await keepPin(git, found, session);
  const bearer = {
    url: found.url,
    body: found.body,
    write: (body: string) => writeBody(github, found, body),
    reread: async () => (await readPullRequest(github, found, found.number))?.body ?? null,
    harm: "it has no cost",
  };
  const stamped = await writeLine(bearer, session, options.dryRun);
  const [of, ...others] = readSessionLine(found.body).ids;
  const isOther = of !== undefined && of !== session && others.length === 0 && !options.dryRun;
  return isOther ? { ...stamped, instead: { session, of, branch: found.branch } } : stamped;
}

export const noPullRequest = (number: number | null): Stamped =>
  notStamped(
    null,
    number === null ? "This branch has no pull request yet." : `Pull request ${number} does not exist here.`,
  );

const UNKNOWN =
  "This branch's session is unknown. Work with `tallygate run -- <agent>`, or name it with --session.";

/** The session of the branch's task, else the one named by the pull request or its commits, else the agent's own. */
async function sessionFor(
  it: PullRequest,
  { reported, fromCommits, ...choice }: StampOptions,
  { git, github }: { git: Git; github: GithubApi },
): Promise<SessionId | null> {
  const branch = await currentBranch(git);
  // Another branch's task does not belong to this pull request, unless the agent created it or pushed its branch.
  const isOwn = branch === it.branch || choice.createdSince !== undefined || choice.branch !== undefined;
  const task = isOwn ? await taskSession(git, (await isOfCheckout(git, it)) ? it.branch : null) : null;
  const [written] = readSessionLine(it.body).ids;
  const named = task ?? written ?? (fromCommits ? await sessionOfCommits(github, it) : null);
  if (named !== null) return named;
  // A CI job has no branch at all.
  return isOwn || branch === null ? agentsOwn(reported) : null;
}

/** Whether the pull request's branch is one of this repository: another one may have a branch of the same name. */
const isOfCheckout = async (git: Git, it: PullRequest): Promise<boolean> =>
  (await currentBranch(git)) === it.branch ||
  (await remotesOn(git, githubHost())).some(
    ({ owner, repository }) =>
      owner.toLowerCase() === it.owner.toLowerCase() &&
      repository.toLowerCase() === it.repository.toLowerCase(),
  );

async function sessionOfCommits(github: GithubApi, it: PullRequest): Promise<SessionId | null> {
  const messages = await commitMessages(github, it);
  const ids = new Set(messages.flatMap((message) => readSessionLine(message).ids));
  if (ids.size <= 1) return [...ids][0] ?? null;
  throw new Error(`The commits of ${it.url} name ${ids.size} sessions (${[...ids].join(", ")}).`);
}

/** Pins the branch of an open pull request, so that the stamped session also covers further work on it. */
async function keepPin(git: Git, it: PullRequest, session: SessionId): Promise<void> {
  if (!it.isOpen || !(await isOfCheckout(git, it))) return;
  const [written = session] = readSessionLine(it.body).ids;
  await pinSession(git, it.branch, written);
  await keepRequest(git, it.branch, it);
}
