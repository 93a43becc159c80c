import type { SessionId } from "#shared/labels.ts";
import { readSessionLine } from "#shared/session-line.ts";
import { pinnedSession, pinSession } from "./branch-session.ts";
import { currentBranch, type Git } from "./git.ts";
import type { Github } from "./github.ts";
import {
  commitMessages,
  findPullRequest,
  numbered,
  type PullRequest,
  type Wanted,
  writeBody,
} from "./pull-request.ts";
import { stampBody } from "./stamped-body.ts";
import { taskOf } from "./task.ts";

export type StampOptions = Wanted & {
  /** Given by whoever asks; null: what the branch, a wrapper or the agent tells. */
  session: SessionId | null;
  /** What the agent around tells of itself, where nothing better is known. */
  told: SessionId | null;
  /** Whether `Gateway-Session` trailers of its commits may tell the session. */
  fromCommits: boolean;
  dryRun: boolean;
};

/** `done` is false where somebody has to act; `text` says what happened, or what to do, in a sentence. */
export type Stamped = {
  done: boolean;
  changed: boolean;
  text: string;
  url: string | null;
  session: SessionId | null;
};

/**
 * Writes the session of a branch's task into its pull request, unless a session stands there already: a second id would
 * leave the merge without a cost. Doing it again changes nothing.
 * @throws Error where git or GitHub refuse.
 */
export async function stampPullRequest(git: Git, github: Github, options: StampOptions): Promise<Stamped> {
  const found = await findPullRequest(git, github, options);
  if (found === null) {
    const { number } = options;
    return trouble(
      null,
      number === null
        ? "There is no pull request of this branch yet."
        : `There is no pull request ${number} here.`,
    );
  }
  const session = options.session ?? (await sessionFor(git, github, found, options));
  if (session === null) return trouble(found, UNKNOWN);
  if (!options.dryRun) await keepPin(git, found, session);
  const told = stampBody(found.body, session);
  switch (told.kind) {
    case "same":
      return settled(found, session, { changed: false, text: `${found.url} is stamped ${session}.` });
    case "other":
      return trouble(
        found,
        `${found.url} names the session ${told.ids[0]}, and this task is ${session}. Nothing was changed: two ids would leave it without a cost.`,
      );
    case "conflict":
      return trouble(
        found,
        `${found.url} names ${told.ids.length} sessions (${told.ids.join(", ")}), so it has no cost. Leave one of these lines in it.`,
      );
    case "too_long":
      return trouble(
        found,
        `${found.url} has no room for another line: GitHub takes 65,536 characters. Shorten it and try again.`,
      );
    case "no_place":
      return trouble(
        found,
        `${found.url} has no place for the line outside code, quotes and comments. Write \`Gateway-Session: ${session}\` into it by hand.`,
      );
    case "stamped":
      return await write(github, found, { session, body: told.body, dryRun: options.dryRun });
  }
}

const UNKNOWN =
  "Nothing tells which session this branch's work was done in. Work with `tallygate run -- <agent>`, or name it with --session.";

async function write(
  github: Github,
  it: PullRequest,
  { session, body, dryRun }: { session: SessionId; body: string; dryRun: boolean },
): Promise<Stamped> {
  if (dryRun) return settled(it, session, { changed: false, text: `${it.url} would be stamped ${session}.` });
  await writeBody(github, it, body);
  const after = await numbered(github, it, it.number);
  const { verdict } = readSessionLine(after?.body ?? null);
  return verdict === "one"
    ? settled(it, session, { changed: true, text: `${it.url} is now stamped ${session}.` })
    : trouble(it, `${it.url} was changed by somebody else meanwhile. Try again.`);
}

/**
 * The session of this checkout's task; where nothing here tells it, the one that the pull request itself or its commits
 * name.
 */
async function sessionFor(
  git: Git,
  github: Github,
  it: PullRequest,
  options: StampOptions,
): Promise<SessionId | null> {
  const branch = await currentBranch(git);
  const known = branch === it.branch ? await taskOf(git, options.told) : null;
  if (known !== null) return known;
  const [written] = readSessionLine(it.body).ids;
  if (written !== undefined) return written;
  const trailer = options.fromCommits ? await sessionOfCommits(github, it) : null;
  // Another branch's task is not this pull request's; a job of CI has no branch at all.
  return trailer ?? (branch === null ? await taskOf(git, options.told) : null);
}

async function sessionOfCommits(github: Github, it: PullRequest): Promise<SessionId | null> {
  const messages = await commitMessages(github, it);
  const ids = new Set(messages.flatMap((message) => readSessionLine(message).ids));
  if (ids.size <= 1) return [...ids][0] ?? null;
  throw new Error(`The commits of ${it.url} name ${ids.size} sessions (${[...ids].join(", ")}).`);
}

/** What is stamped once holds for all further work on the branch. */
async function keepPin(git: Git, it: PullRequest, session: SessionId): Promise<void> {
  const branch = await currentBranch(git);
  if (branch === null || branch !== it.branch || (await pinnedSession(git, branch)) !== null) return;
  const [written] = readSessionLine(it.body).ids;
  await pinSession(git, branch, written ?? session);
}

const settled = (
  { url }: PullRequest,
  session: SessionId,
  it: { changed: boolean; text: string },
): Stamped => ({
  done: true,
  url,
  session,
  ...it,
});

const trouble = (it: PullRequest | null, text: string): Stamped => ({
  done: false,
  changed: false,
  url: it?.url ?? null,
  session: null,
  text,
});
