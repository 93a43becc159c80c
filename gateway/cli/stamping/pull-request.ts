import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { fits, nullable, open } from "#shared/schema.ts";
import { currentBranch, type Git } from "./git.ts";
import type { GithubApi } from "./github.ts";
import { headOwner, type Remote, remotesOn } from "./remote.ts";

const PullRequestBody = open({
  number: Type.Integer(),
  html_url: Type.String(),
  state: Type.String(),
  body: nullable(Type.String()),
  merged_at: nullable(Type.String()),
  created_at: Type.String(),
  closed_at: nullable(Type.String()),
  updated_at: Type.String(),
  user: nullable(open({ login: Type.String() })),
  head: open({ ref: Type.String() }),
  base: open({ repo: open({ id: Type.Integer() }) }),
});
const PullRequestList = Type.Array(PullRequestBody);

export type PullRequest = {
  owner: string;
  repository: string;
  /** GitHub's id of the repository, which survives renames. */
  repositoryId: number;
  number: number;
  url: string;
  branch: string;
  isOpen: boolean;
  merged: boolean;
  createdAt: string;
  /** When it was merged or closed; null: it is open. */
  closedAt: string | null;
  /** The login of its author; null if the account is gone. */
  author: string | null;
  body: string | null;
};

export type RepositoryName = { owner: string; repository: string };

/** Which pull request; null where the user named none. */
export type PullRequestChoice = {
  place: RepositoryName | null;
  number: number | null;
  /** Its head branch; without one, the branch that is checked out. */
  branch?: string;
  /** Only an open one counts. */
  isOpen?: boolean;
  /** Only one counts that the caller's own account created since then, in milliseconds. */
  createdSince?: number;
};

/** The pull request of a number or branch (open, else latest); null: none. @throws Error: no remote, or GitHub refuses */
export async function locatePullRequest(
  git: Git,
  github: GithubApi,
  choice: PullRequestChoice,
): Promise<PullRequest | null> {
  const found = await find(git, github, choice);
  if (found === null || (choice.isOpen && !found.isOpen)) return null;
  const { createdSince } = choice;
  if (createdSince === undefined) return found;
  if (Date.parse(found.createdAt) < createdSince) return null;
  const login = await ownLogin(github);
  return login === null || login === found.author ? found : null;
}

async function find(git: Git, github: GithubApi, { place, number, branch: named }: PullRequestChoice) {
  if (place !== null && number !== null) return await readPullRequest(github, place, number);
  const remotes = await remotesOn(git, github.host);
  const [first] = remotes;
  if (!first) throw new Error(`None of this directory's remotes is on ${github.host}.`);
  if (number !== null) return await readPullRequest(github, first, number);
  const branch = named ?? (await currentBranch(git));
  if (branch === null)
    throw new Error("No branch is checked out. Give the pull request's number with --number.");
  const owner = (await headOwner(git, branch, remotes)) ?? first.owner;
  for await (const base of place ? [place] : basesOf(github, remotes)) {
    const found = await ofBranch(github, base, `${owner}:${branch}`);
    if (found) return found;
  }
  return null;
}

const Login = open({ login: Type.String() });

/** The login of the token's owner; null for one that belongs to no account, such as a workflow's. */
export async function ownLogin(github: GithubApi): Promise<string | null> {
  const { status, body } = await github.ask("GET", "user");
  return status === 200 && fits(Login, body) ? body.login : null;
}

/** Reads the body again, so that a newer version is not overwritten. */
export async function readPullRequest(
  github: GithubApi,
  place: RepositoryName,
  number: number,
): Promise<PullRequest | null> {
  const { status, body } = await github.ask("GET", `${pathOf(place)}/pulls/${number}`);
  if (status === 404) return null;
  if (status === 200 && fits(PullRequestBody, body)) return viewOf(place, body);
  throw refusal(status, `read pull request ${number}`, place);
}

/** @throws Error if GitHub refuses. */
export async function writeBody(github: GithubApi, it: PullRequest, body: string): Promise<void> {
  const { status } = await github.ask("PATCH", `${pathOf(it)}/pulls/${it.number}`, { body });
  if (status !== 200) throw refusal(status, `change pull request ${it.number}`, it);
}

/** A repository's list below a path, page by page. @throws Error if GitHub refuses. */
export async function* pagesOf<T extends TSchema>(
  github: GithubApi,
  place: RepositoryName,
  { path, item, what }: { path: string; item: T; what: string },
): AsyncGenerator<Static<T>[]> {
  for (let page = 1; ; page++) {
    const { status, body } = await github.ask(
      "GET",
      `${pathOf(place)}/${path}?per_page=${PAGE}&page=${page}`,
    );
    if (status !== 200 || !fits(Type.Array(item), body)) throw refusal(status, what, place);
    yield body;
    if (body.length < PAGE) return;
  }
}

const PAGE = 100;
const Commit = open({ commit: open({ message: Type.String() }) });
const COMMITS_MAX = 250;

/** Messages of its first 250 commits. @throws Error if GitHub refuses. */
export async function commitMessages(github: GithubApi, it: PullRequest): Promise<string[]> {
  const messages: string[] = [];
  const commits = { path: `pulls/${it.number}/commits`, item: Commit, what: "read the commits" };
  for await (const page of pagesOf(github, it, commits)) {
    messages.push(...page.map(({ commit }) => commit.message));
    if (messages.length >= COMMITS_MAX) break;
  }
  return messages;
}

const Forked = open({ parent: open({ name: Type.String(), owner: open({ login: Type.String() }) }) });

/** The remotes' repositories, then their parents: a fork's pull requests go to its parent. */
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
  if (status !== 200 || !fits(PullRequestList, body)) throw refusal(status, "list pull requests", place);
  const found = body.map((item) => viewOf(place, item)).filter(({ branch }) => head.endsWith(`:${branch}`));
  return found.find(({ isOpen }) => isOpen) ?? found[0] ?? null;
}

export const pathOf = ({ owner, repository }: RepositoryName): string =>
  `repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;

const viewOf = ({ owner, repository }: RepositoryName, item: typeof PullRequestBody.static): PullRequest => ({
  owner,
  repository,
  repositoryId: item.base.repo.id,
  number: item.number,
  url: item.html_url,
  branch: item.head.ref,
  isOpen: item.state === "open",
  merged: item.merged_at !== null,
  createdAt: item.created_at,
  closedAt: item.closed_at,
  author: item.user?.login ?? null,
  body: item.body,
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
