import { Type } from "@sinclair/typebox";
import { fits, nullable, open } from "#shared/schema.ts";
import { currentBranch, type Git } from "./git.ts";
import type { GithubApi } from "./github.ts";
import { headOwner, type Remote, remotesOn } from "./remote.ts";

/** What the CLI needs to know of a pull request; GitHub tells far more. */
const Told = open({
  number: Type.Integer(),
  html_url: Type.String(),
  state: Type.String(),
  body: nullable(Type.String()),
  merged_at: nullable(Type.String()),
  updated_at: Type.String(),
  head: open({ ref: Type.String() }),
  base: open({ repo: open({ id: Type.Integer() }) }),
});
const ToldList = Type.Array(Told);

export type PullRequest = {
  owner: string;
  repository: string;
  /** GitHub's id of the repository, which outlives its names. */
  repositoryId: number;
  number: number;
  url: string;
  /** The branch that it wants to merge. */
  branch: string;
  isOpen: boolean;
  merged: boolean;
  body: string | null;
};

/** A repository at GitHub. */
export type RepositoryName = { owner: string; repository: string };

/** Which pull request: null where nobody said. */
export type PullRequestChoice = { place: RepositoryName | null; number: number | null };

/**
 * The pull request of that number in the repository that pull requests go to, or of the branch that is checked out: the
 * open one, else the one that changed last. Null where there is none.
 * @throws Error where the checkout has no remote at GitHub, or GitHub refuses.
 */
export async function locatePullRequest(
  git: Git,
  github: GithubApi,
  { place, number }: PullRequestChoice,
): Promise<PullRequest | null> {
  if (place !== null && number !== null) return await readPullRequest(github, place, number);
  const remotes = await remotesOn(git, github.host);
  const [first] = remotes;
  if (!first) throw new Error(`None of this directory's remotes is at ${github.host}.`);
  if (number !== null) return await readPullRequest(github, first, number);
  const branch = await currentBranch(git);
  if (branch === null) throw new Error("No branch is checked out; name the pull request by its number.");
  const owner = (await headOwner(git, branch, remotes)) ?? first.owner;
  for await (const base of place ? [place] : basesOf(github, remotes)) {
    const found = await ofBranch(github, base, `${owner}:${branch}`);
    if (found) return found;
  }
  return null;
}

/** Reads the body again, so that what was found is not older than what is written over. */
export async function readPullRequest(
  github: GithubApi,
  place: RepositoryName,
  number: number,
): Promise<PullRequest | null> {
  const { status, body } = await github.ask("GET", `${pathOf(place)}/pulls/${number}`);
  if (status === 404) return null;
  if (status === 200 && fits(Told, body)) return viewOf(place, body);
  throw refusal(status, `read pull request ${number}`, place);
}

/** @throws Error where GitHub refuses. */
export async function writeBody(github: GithubApi, it: PullRequest, body: string): Promise<void> {
  const { status } = await github.ask("PATCH", `${pathOf(it)}/pulls/${it.number}`, { body });
  if (status !== 200) throw refusal(status, `change pull request ${it.number}`, it);
}

const Commit = open({ commit: open({ message: Type.String() }) });
const COMMITS_MAX = 250;

/** The messages of its commits, the first 250. @throws Error where GitHub refuses. */
export async function commitMessages(github: GithubApi, it: PullRequest): Promise<string[]> {
  const messages: string[] = [];
  for (let page = 1; messages.length < COMMITS_MAX; page++) {
    const path = `${pathOf(it)}/pulls/${it.number}/commits?per_page=100&page=${page}`;
    const { status, body } = await github.ask("GET", path);
    if (status !== 200 || !fits(Type.Array(Commit), body)) throw refusal(status, "read the commits", it);
    messages.push(...body.map(({ commit }) => commit.message));
    if (body.length < 100) break;
  }
  return messages;
}

const Forked = open({ parent: open({ name: Type.String(), owner: open({ login: Type.String() }) }) });

/** The remotes' repositories, then their parents: pull requests of a fork go there, and it need not be among the remotes. */
async function* basesOf(github: GithubApi, remotes: readonly Remote[]): AsyncGenerator<RepositoryName> {
  yield* remotes;
  for (const remote of remotes) {
    const { status, body } = await github.ask("GET", pathOf(remote));
    if (status === 200 && fits(Forked, body))
      yield { owner: body.parent.owner.login, repository: body.parent.name };
  }
}

async function ofBranch(github: GithubApi, place: RepositoryName, head: string): Promise<PullRequest | null> {
  const query = new URLSearchParams({ head, state: "all", sort: "updated", direction: "desc" });
  const { status, body } = await github.ask("GET", `${pathOf(place)}/pulls?${query}`);
  if (status === 404) return null;
  if (status !== 200 || !fits(ToldList, body)) throw refusal(status, "list pull requests", place);
  const found = body.map((told) => viewOf(place, told)).filter(({ branch }) => head.endsWith(`:${branch}`));
  return found.find(({ isOpen }) => isOpen) ?? found[0] ?? null;
}

export const pathOf = ({ owner, repository }: RepositoryName): string =>
  `repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;

const viewOf = ({ owner, repository }: RepositoryName, told: typeof Told.static): PullRequest => ({
  owner,
  repository,
  repositoryId: told.base.repo.id,
  number: told.number,
  url: told.html_url,
  branch: told.head.ref,
  isOpen: told.state === "open",
  merged: told.merged_at !== null,
  body: told.body,
});

export function refusal(status: number, what: string, { owner, repository }: RepositoryName): Error {
  const why: Record<number, string> = {
    401: "the token is not valid",
    403: "the token may not do that (it needs pull requests: write), or its rate limit is used up",
    404: "the pull request does not exist, or the token may not see it",
    422: "GitHub does not accept the change",
  };
  return new Error(
    `GitHub refused to ${what} of ${owner}/${repository}: ${why[status] ?? "it answered"} (${status}).`,
  );
}
